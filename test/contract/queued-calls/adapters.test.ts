// Every operation of every queued adapter, there and back through Redis: to a worker in another process, and to one nearby.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { INCOME_VENDOR_QUEUE, QueuedIncomeVendor } from '../../../src/adapters/income-vendor/queued.js';
import type { QueuedCalls } from '../../../src/adapters/queued-calls/caller.js';
import type { CallQueue, Calls } from '../../../src/adapters/queued-calls/queue.js';
import {
  type IncomeOutcome,
  type IncomeRoute,
  type IncomeStart,
  IncomeVendor,
} from '../../../src/ports/income-vendor.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import { newCall } from '../identity-vendor/suite.js';
import { Processes } from './processes.js';

class Income extends IncomeVendor {
  readonly asked: unknown[] = [];
  override async start(call: VendorCall, route: IncomeRoute, vendorSession: string | null): Promise<IncomeStart> {
    this.asked.push(['start', call, route, vendorSession]);
    return { kind: 'started', inquiry: 'inq-1' };
  }
  override async outcomeOf(call: VendorCall, inquiry: string): Promise<IncomeOutcome> {
    this.asked.push(['outcomeOf', call, inquiry]);
    return { kind: 'failed', reason: 'NO_MATCH' };
  }
}

describe.each(['in another process', 'in the same process'])('a worker %s', (where) => {
  let processes: Processes;
  beforeAll(async () => {
    processes = await Processes.start();
  });
  afterAll(() => processes.end());

  async function behind<Port>(queue: CallQueue<Port>, real: Calls<Port>): Promise<QueuedCalls<Port>> {
    const calls = await processes.caller(queue);
    await processes.worker(queue, real, where === 'in the same process' ? { nearby: calls } : {});
    return calls;
  }

  it('starts income inquiries and asks what came of them', async () => {
    const real = new Income();
    const income = new QueuedIncomeVendor(await behind(INCOME_VENDOR_QUEUE, real));
    const calls = [newCall(), newCall()] as const;
    expect(await income.start(calls[0], 'PAYROLL', null)).toEqual({ kind: 'started', inquiry: 'inq-1' });
    expect(await income.outcomeOf(calls[1], 'inq-1')).toEqual({ kind: 'failed', reason: 'NO_MATCH' });
    expect(real.asked).toEqual([
      ['start', calls[0], 'PAYROLL', null],
      ['outcomeOf', calls[1], 'inq-1'],
    ]);
  });

  it('leaves nothing of it in Redis', async () => {
    const look = processes.connection();
    expect(await look.keys('sealed:*')).toEqual([]);
    expect((await look.keys('*:events')).sort()).toEqual(['bull:income-vendor:events']);
  });
});
