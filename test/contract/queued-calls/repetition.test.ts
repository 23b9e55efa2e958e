// What a second request for the same attempt becomes, by what the operation bears.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Worker } from 'bullmq';
import type { QueuedCalls } from '../../../src/adapters/queued-calls/caller.js';
import { CallSettings, type CallQueue } from '../../../src/adapters/queued-calls/queue.js';
import type { NoVerdict, VendorCall } from '../../../src/ports/vendor-call.js';
import { Processes, until } from './processes.js';

type Answer = { readonly kind: 'made'; readonly number: number; readonly input: string } | NoVerdict;

interface Vendor {
  pay(call: VendorCall, input: string): Promise<Answer>;
  order(call: VendorCall, input: string): Promise<Answer>;
  cancel(call: VendorCall, input: string): Promise<Answer>;
  look(call: VendorCall, input: string): Promise<Answer>;
}

const QUEUE: CallQueue<Vendor> = {
  name: 'some-vendor',
  operations: {
    pay: { repetition: 'never' },
    order: { repetition: 'idempotent' },
    cancel: { repetition: 'idempotent' },
    look: { repetition: 'question' },
  },
};

/** Numbers its calls, and ends none before the test lets it. */
class CountingVendor implements Vendor {
  readonly calls: string[] = [];
  readonly finish: (() => void)[] = [];
  /** Whether calls wait for the test. */
  held = false;

  pay(call: VendorCall, input: string): Promise<Answer> {
    return this.made(call, input);
  }
  order(call: VendorCall, input: string): Promise<Answer> {
    return this.made(call, input);
  }
  cancel(call: VendorCall, input: string): Promise<Answer> {
    return this.made(call, input);
  }
  look(call: VendorCall, input: string): Promise<Answer> {
    return this.made(call, input);
  }
  private async made(call: VendorCall, input: string): Promise<Answer> {
    const number = this.calls.push(call.attemptId);
    if (this.held) await new Promise<void>((resolve) => this.finish.push(resolve));
    return { kind: 'made', number, input };
  }
}

describe('a second request for an attempt', () => {
  let processes: Processes;
  let vendor: CountingVendor;
  let call: VendorCall;

  beforeEach(async () => {
    processes = await Processes.start();
    vendor = new CountingVendor();
    call = { attemptId: `txn:${randomUUID()}`, correlationId: 'c', environment: 'test', subject: null };
  });
  afterEach(async () => {
    vendor.finish.forEach((finish) => finish());
    await processes.end();
  });

  const twoProcesses = async (): Promise<[QueuedCalls<Vendor>, QueuedCalls<Vendor>]> => [
    await processes.caller(QUEUE, 10_000),
    await processes.caller(QUEUE, 10_000),
  ];

  it.each(['order', 'look'] as const)(
    'is answered although another process asks the same at once (%s)',
    async (operation) => {
      const [one, two] = await twoProcesses();
      vendor.held = true;
      await processes.worker(QUEUE, vendor);
      const both = Promise.all([one.make(operation, call, 'a'), two.make(operation, call, 'a')]);
      await until(() => vendor.calls.length === 2);
      vendor.finish.forEach((finish) => finish());
      expect((await both).map(({ kind }) => kind)).toEqual(['made', 'made']);
      expect(vendor.calls).toEqual([call.attemptId, call.attemptId]);
    },
  );

  it('shares the call of one that is under way in the same process, if the vendor knows the attempt', async () => {
    const calls = await processes.caller(QUEUE);
    const both = Promise.all([calls.make('order', call, 'a'), calls.make('order', call, 'a')]);
    await processes.worker(QUEUE, vendor);
    expect(await both).toEqual([
      { kind: 'made', number: 1, input: 'a' },
      { kind: 'made', number: 1, input: 'a' },
    ]);
    expect(vendor.calls).toHaveLength(1);
  });

  it('is made anew once the first is over, by this process and by others', async () => {
    const [one, two] = await twoProcesses();
    await processes.worker(QUEUE, vendor);
    expect(await one.make('order', call, 'a')).toMatchObject({ number: 1 });
    expect(await one.make('order', call, 'a')).toMatchObject({ number: 2 });
    expect(await two.make('order', call, 'a')).toMatchObject({ number: 3 });
  });

  it('is made although the first is stuck in a worker', async () => {
    const calls = await processes.caller(QUEUE, 3_000);
    const stuck = new Worker(QUEUE.name, () => new Promise(() => undefined), { connection: processes.connection() });
    processes.cleanups.push(() => stuck.close(true));
    expect(await calls.make('order', call, 'a')).toEqual({ kind: 'timed-out' });
    expect((await calls.backlog()).active).toBe(1);
    await processes.worker(QUEUE, vendor);
    expect(await calls.make('order', call, 'a')).toMatchObject({ number: 1 });
  });

  it('hears a newer answer than the first, if it is a question', async () => {
    const calls = await processes.caller(QUEUE);
    vendor.held = true;
    await processes.worker(QUEUE, vendor);
    const first = calls.make('look', call, 'a');
    await until(() => vendor.finish.length === 1);
    vendor.held = false;
    expect(await calls.make('look', call, 'a')).toMatchObject({ number: 2 });
    vendor.finish[0]?.();
    expect(await first).toMatchObject({ number: 1 });
  });

  it('does not mistake one operation for another', async () => {
    const calls = await processes.caller(QUEUE);
    const all = Promise.all([
      calls.make('order', call, 'order'),
      calls.make('cancel', call, 'cancel'),
      calls.make('look', call, 'look'),
    ]);
    await processes.worker(QUEUE, vendor);
    expect(await all).toMatchObject([{ input: 'order' }, { input: 'cancel' }, { input: 'look' }]);
  });

  it('is not made, if it must not be repeated, while the first is under way anywhere', async () => {
    const once: VendorCall = { attemptId: randomUUID(), correlationId: 'c', environment: 'test', subject: null };
    const [one, two] = [await processes.caller(QUEUE), await processes.caller(QUEUE, 400)];
    vendor.held = true;
    await processes.worker(QUEUE, vendor);
    const both = Promise.all([one.make('pay', once, 'a'), one.make('pay', once, 'a')]);
    await until(() => vendor.finish.length === 1);
    expect(await two.make('pay', once, 'a')).toEqual({ kind: 'timed-out' });
    vendor.finish[0]?.();
    expect((await both).map(({ kind }) => kind)).toEqual(['made', 'made']);
    expect(vendor.calls).toEqual([once.attemptId]);
  });

  it('is told that it was not made by a worker of a release that does not know the operation', async () => {
    const calls = await processes.caller(QUEUE);
    const { pay, look, cancel } = QUEUE.operations;
    await processes.worker<Omit<Vendor, 'order'>>({ name: QUEUE.name, operations: { pay, look, cancel } }, vendor);
    expect(await calls.make('order', call, 'a')).toEqual({ kind: 'unavailable' });
    expect(vendor.calls).toEqual([]);
    expect(processes.measured).toEqual([]);
  });

  describe('what is measured', () => {
    it('is every call that was made, by its operation and the kind of its verdict', async () => {
      const calls = await processes.caller(QUEUE);
      await processes.worker(QUEUE, vendor, { nearby: calls });
      await calls.make('order', call, 'a');
      await calls.make('look', call, 'a');
      expect(processes.measured).toEqual([
        ['order', 'made', expect.any(Number)],
        ['look', 'made', expect.any(Number)],
      ]);
      expect(processes.measured.every(([, , seconds]) => seconds > 0 && seconds < 5)).toBe(true);
    });

    it('is a call that was given up too', async () => {
      const calls = await processes.caller(QUEUE, 3_000);
      vendor.held = true;
      await processes.worker(QUEUE, vendor, { settings: new CallSettings(3_000) });
      await calls.make('order', call, 'a');
      await until(() => processes.measured.length === 1);
      expect(processes.measured).toEqual([['order', 'timed-out', expect.any(Number)]]);
      expect(processes.measured[0]?.[2]).toBeGreaterThan(0.2);
    });
  });
});
