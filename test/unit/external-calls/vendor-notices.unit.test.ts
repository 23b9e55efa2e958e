// The address to which vendors send their notices.
import { describe, expect, it } from '@jest/globals';
import { AttemptRecovery, type AskedVendor } from '../../../src/external-calls/attempt-recovery.js';
import type { OpenAttempt } from '../../../src/external-calls/external-calls.js';
import { VendorNoticesRoute } from '../../../src/external-calls/vendor-notices.js';
import { newId } from '../../../src/kernel/ids.js';
import type { NoticeReader, PaymentNotice, VendorNotice } from '../../../src/ports/vendor-notices.js';

const SESSION = newId();
const NOW = new Date('2026-03-01T12:00:00Z');

function route(read: NoticeReader | null, asked: AskedVendor | null = { vendor: 'acme', environment: 'test' }) {
  const settled: unknown[] = [];
  const paid: unknown[] = [];
  const readersAsked: string[] = [];
  const recovery = (kind: 'identity-vendor' | 'income-vendor', operation: string, found: AskedVendor | null) =>
    new AttemptRecovery(
      kind,
      operation,
      async () => undefined,
      async (id) => (id === SESSION ? found : null),
    );
  const unneeded = (): Promise<never> => Promise.reject(new Error('not asked'));
  const calls = {
    ...{ admit: unneeded, withdraw: unneeded, make: unneeded, makeAgain: unneeded },
    settle: async ({ operation }: { readonly operation: string }, environment: string, open: OpenAttempt) =>
      void settled.push([operation, environment, open]),
  };
  const notices = {
    readerOf: (vendor: string) => {
      readersAsked.push(vendor);
      return read;
    },
  };
  const it = new VendorNoticesRoute(notices, { now: () => NOW }, calls, {
    recoveries: () => [
      recovery('identity-vendor', 'settle-verification', asked),
      recovery('identity-vendor', 'settle-reauthentication', null),
      recovery('income-vendor', 'settle-income', asked),
    ],
    payments: () => ({ receive: async (...told) => void paid.push(told) }),
  });
  const receive = (params: Record<string, string> = { vendor: 'acme' }): Promise<void> =>
    it.receive({ params, body: new Uint8Array([1]), headers: { 'x-signature': 's' }, requestId: 'request' });
  return { receive, settled, paid, readersAsked };
}

const about = (more: object = {}): VendorNotice => ({
  ...{ capability: 'identity', eventId: 'event-1', environment: 'test', aggregateId: SESSION },
  ...more,
});

describe('a notice of a vendor', () => {
  it('404: does not exist for a vendor without a reader', async () => {
    const { receive, settled } = route(null);
    await expect(receive()).rejects.toMatchObject({ code: 'request.unknown_path' });
    expect(settled).toEqual([]);
  });

  it('400: is refused when the reader refuses the request, and the reader sees the bytes, the headers and the time', async () => {
    const seen: unknown[] = [];
    const { receive, settled } = route((request) => {
      seen.push(request);
      return null;
    });
    await expect(receive()).rejects.toMatchObject({ code: 'request.invalid' });
    expect([seen, settled]).toEqual([[{ body: new Uint8Array([1]), headers: { 'x-signature': 's' }, now: NOW }], []]);
  });

  it('settles the open attempt of the aggregate that it names', async () => {
    const { receive, settled } = route(() => about());
    await receive();
    const open = { id: SESSION, vendor: 'acme', eventId: 'event-1' };
    expect(settled).toEqual([['settle-verification', 'test', open]]);
  });

  it.each([
    ['another vendor was asked', about(), { vendor: 'idv', environment: 'test' }],
    ['the first vendor was asked', about(), { environment: 'test' }],
    ['the aggregate has another environment', about({ environment: 'live' }), { vendor: 'acme', environment: 'test' }],
    ['no such aggregate exists', about({ aggregateId: newId() }), { vendor: 'acme', environment: 'test' }],
    ['the reference is not an id', about({ aggregateId: '../x' }), { vendor: 'acme', environment: 'test' }],
    ['the capability has no such attempt', about({ capability: 'credit' }), { vendor: 'acme', environment: 'test' }],
  ] as const)('changes nothing when %s', async (_why, notice, asked) => {
    const { receive, settled } = route(() => notice, asked);
    await receive();
    expect(settled).toEqual([]);
  });

  it('about a payment is given to the payments module with the id of the processor', async () => {
    const notice: PaymentNotice = {
      ...{ capability: 'payment', eventId: 'evt_1', type: 'paid', environment: 'test' },
      ...{ intentId: 'pi_1', checkoutSessionId: null, transactionId: null },
    };
    const { receive, settled, paid, readersAsked } = route(() => notice);
    await receive({ vendor: 'adyen' });
    // The older address of the processor's events.
    await receive({});
    expect([settled, paid, readersAsked]).toEqual([
      [],
      [
        [notice, 'adyen', 'request'],
        [notice, 'stripe', 'request'],
      ],
      ['adyen', 'stripe'],
    ]);
  });
});
