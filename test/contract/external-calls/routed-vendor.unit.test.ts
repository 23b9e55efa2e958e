import { expect, it, jest } from '@jest/globals';
import { routedVendor } from '../../../src/external-calls/routed-vendor.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';

it('a routed call calls no vendor when its time limit has passed before the call, although no timer has fired yet', async () => {
  let asked = 0;
  const adapter = { lay: async (_: VendorCall) => ({ kind: 'egg', number: ++asked }) };
  const port = routedVendor('identity-vendor', { operations: ['lay'], of: () => adapter }, () => undefined);
  const call = { attemptId: 'a', correlationId: 'c', environment: 'test', subject: null } as const;
  const { signal } = new AbortController();
  expect(await port.lay({ ...call, signal, endsAt: Date.now() - 1 })).toEqual({ kind: 'timed-out' });
  const endsAt = Date.now() + 60_000;
  const mayAsk = async (): Promise<boolean> => {
    jest.spyOn(Date, 'now').mockReturnValue(endsAt);
    return true;
  };
  expect(await port.lay({ ...call, signal, endsAt, mayAsk })).toEqual({ kind: 'timed-out' });
  jest.restoreAllMocks();
  expect(asked).toBe(0);
  expect(await port.lay({ ...call, signal, endsAt: Date.now() + 60_000 })).toEqual({ kind: 'egg', number: 1 });
});
