import { describe, expect, it } from '@jest/globals';
import type { UserType, View } from '../../../web/contract/callbacks.js';
import type { Shown } from '../../../web/frame/flow.js';
import type { Place } from '../../../web/frame/place.js';
import { progressOf } from '../../../web/frame/progress.js';

interface Standing {
  readonly view?: View;
  readonly userType?: UserType;
  readonly price?: object | null;
}

function at(place: Place, { view = 'screening', userType = 'CONSUMER', price = {} }: Standing = {}) {
  const journey = { start: { view, userType }, options: { price } };
  return progressOf({ kind: 'place', place, journey } as unknown as Shown);
}

const ALL = ['identity', 'verification', 'payment', 'report'];

describe('the progress', () => {
  it.each([
    ['details', 0],
    ['waiting', 1],
    ['choice', 1],
    ['otp', 1],
    ['kba', 1],
    ['payment', 2],
    ['report', 3],
    ['share', 3],
  ] as const)('shows a consumer at %s in part %d of four', (place, part) =>
    expect(at(place)).toEqual({ parts: ALL, at: part }),
  );

  it('has no payment part when nothing has a price', () =>
    expect(at('report', { price: null })).toEqual({ parts: ['identity', 'verification', 'report'], at: 2 }));

  it.each(['AGENT', 'PMC'] as const)('for %s ends with the verification', (userType) => {
    expect(at('otp', { userType })).toEqual({ parts: ['identity', 'verification'], at: 1 });
    expect(at('verified', { userType })).toBeNull();
  });

  it('is not shown after an end, in other views, or before the first screen is known', () => {
    expect([at('ended'), at('report', { view: 'report' }), progressOf({ kind: 'loading' })]).toEqual([
      null,
      null,
      null,
    ]);
  });
});
