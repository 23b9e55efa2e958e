import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { vendorId } from '../../../src/external-calls/call-queues.js';
import { type MadeCall, routedVendor } from '../../../src/external-calls/routed-vendor.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';

interface Hens {
  lay(call: VendorCall, eggs: number): Promise<{ readonly kind: string; readonly by?: string; readonly eggs?: number }>;
}

const CALL: VendorCall = { attemptId: 'attempt', correlationId: 'request', environment: 'test', subject: null };

describe('a port of several vendors', () => {
  let measured: unknown[];
  let heard: MadeCall['ends' | 'call'][];
  /** An adapter is a class, so its operations need their object. */
  class Henhouse implements Hens {
    constructor(private readonly by: string) {}

    async lay(_call: VendorCall, eggs: number) {
      return { kind: 'egg', by: this.by, eggs };
    }
  }
  const hensOf = (by: string): Hens => new Henhouse(by);
  const among = (vendors: Readonly<Record<string, Hens>>): Hens =>
    routedVendor<Hens>(
      'identity-vendor',
      { operations: ['lay'], of: ({ vendor = 'first' }) => vendors[vendor] ?? null },
      ({ vendor, operation, outcome, seconds, ends, call }) => {
        measured.push([vendor, operation, outcome, seconds]);
        heard.push(ends, call);
      },
    );

  beforeEach(() => {
    measured = [];
    heard = [];
  });

  it('calls the vendor that the call names, and answers unavailable when this vendor is not configured', async () => {
    const port = among({ first: hensOf('first'), second: hensOf('second') });
    expect(await port.lay(CALL, 1)).toEqual({ kind: 'egg', by: 'first', eggs: 1 });
    expect(await port.lay({ ...CALL, vendor: 'second' }, 2)).toEqual({ kind: 'egg', by: 'second', eggs: 2 });
    expect(await port.lay({ ...CALL, vendor: 'third' }, 3)).toEqual({ kind: 'unavailable' });
  });

  it('measures every call with its vendor, its operation, its verdict and its duration', async () => {
    const port = among({ first: hensOf('first'), second: hensOf('second') });
    await port.lay(CALL, 1);
    await port.lay({ ...CALL, vendor: 'second' }, 1);
    await port.lay({ ...CALL, vendor: 'third' }, 1);
    expect(measured).toEqual([
      ['identity-vendor', 'lay', 'egg', expect.any(Number)],
      ['identity-vendor-second', 'lay', 'egg', expect.any(Number)],
    ]);
  });

  it('tells the caller how the vendor answered, with the vendor, its number, its transaction and whether it bills', async () => {
    const answers: unknown[] = [];
    const call: VendorCall = { ...CALL, onAnswer: (answer) => answers.push(answer) };
    const lay: Hens['lay'] = async ({ onEnd }) => {
      onEnd?.('token-200');
      onEnd?.('200');
      return { kind: 'egg', upstreamCode: 7, vendorTransactionId: 'T1', billed: true };
    };
    await among({ first: { lay } }).lay(call, 1);
    await among({ second: hensOf('second') }).lay({ ...call, vendor: 'second' }, 1);
    const common = { operation: 'lay', outcome: 'egg', latencyMs: expect.any(Number) };
    expect(answers).toEqual([
      {
        ...common,
        vendor: vendorId('identity-vendor', undefined),
        end: '200',
        code: 7,
        transactionId: 'T1',
        billed: true,
      },
      { ...common, vendor: 'second' },
    ]);
  });

  it('passes on the behaviour that a test account has set, but none in live calls or without an account', async () => {
    const seen: unknown[] = [];
    const lay: Hens['lay'] = async ({ behaviour }) => {
      seen.push(behaviour);
      return { kind: 'egg' };
    };
    const adapters = { operations: ['lay'], of: () => ({ lay }), behaviour: async () => 'slow' as const };
    const port = routedVendor<Hens>('identity-vendor', adapters, () => undefined);
    for (const call of [{ accountId: 'a' }, { accountId: 'a', environment: 'live' }, { accountId: null }] as const)
      await port.lay({ ...CALL, ...call }, 1);
    expect(seen).toEqual(['slow', undefined, undefined]);
  });

  // A log line can then tell for which call a vendor gave no verdict, and why.
  it('reports how each exchange of a call ended, together with the ids of the call', async () => {
    const lay: Hens['lay'] = async ({ onEnd }) => {
      onEnd?.('not-sent');
      onEnd?.('503');
      return { kind: 'unavailable' };
    };
    await among({ first: { lay } }).lay(CALL, 1);
    expect(heard).toEqual([['not-sent', '503'], CALL]);
  });

  it('logs why a vendor was not called', async () => {
    const log = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    await among({}).lay({ ...CALL, vendor: 'third' }, 1);
    await among({ first: hensOf('first') }).lay({ ...CALL, signal: AbortSignal.abort() }, 1);
    expect(log.mock.calls).toEqual([
      ['identity-vendor-third was not called (lay, attempt attempt): it is not set up'],
      ['identity-vendor was not called (lay, attempt attempt): no time was left'],
    ]);
    log.mockRestore();
  });

  it('reports a timeout when the signal aborts, even if the vendor is still working, and measures the call', async () => {
    const giveUp = new AbortController();
    const port = among({ first: { lay: () => new Promise(() => undefined) } });
    const asked = port.lay({ ...CALL, signal: giveUp.signal }, 1);
    giveUp.abort();
    expect(await asked).toEqual({ kind: 'timed-out' });
    expect(measured).toEqual([['identity-vendor', 'lay', 'timed-out', expect.any(Number)]]);
  });

  it('calls no vendor when the signal was aborted before', async () => {
    const lay = jest.fn<Hens['lay']>();
    const call = { ...CALL, signal: AbortSignal.abort() };
    expect(await among({ first: { lay } }).lay(call, 1)).toEqual({ kind: 'timed-out' });
    expect([lay.mock.calls, measured]).toEqual([[], []]);
  });

  const thrown = (): never => {
    throw new TypeError('canary');
  };

  it.each([
    ['an error', thrown],
    ['an error in its promise', async () => thrown()],
  ])('reports `unintelligible` when an adapter throws %s, and logs only the name of the error', async (_name, lay) => {
    const log = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    const port = among({ first: { lay } });
    expect(await port.lay(CALL, 1)).toEqual({ kind: 'unintelligible' });
    expect(log.mock.calls).toEqual([[expect.stringContaining('TypeError')]]);
    expect(String(log.mock.calls)).not.toContain('canary');
    log.mockRestore();
  });
});
