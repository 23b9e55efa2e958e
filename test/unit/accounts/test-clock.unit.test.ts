// The clock of an account, and what happens when it passes times for which objects of the account wait (docs/adr/0030).
import { describe, expect, it } from '@jest/globals';
import type { Environment } from '../../../src/kernel/environment.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import { PassedWaits } from '../../../src/modules/accounts/application/passed-waits.js';
import { TurnedClocks } from '../../../src/modules/accounts/read/turned-clocks.js';
import { AccountWaits, type Wait } from '../../../src/ports/account-waits.js';
import { HandlerCheckpoints } from '../../../src/ports/handler-checkpoints.js';
import { AccountClock } from '../../../src/ports/test-clocks.js';
import { SetClock } from '../../support/clock.js';

const MACHINE = new Date('2026-03-01T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const later = (hours: number): string => new Date(MACHINE.getTime() + hours * HOUR_MS).toISOString();

/** The clock of a service whose account `turned` is two hours ahead. Both hours were turned at once. */
function clock(provisionedForLive = false): AccountClock {
  const clocks = new TurnedClocks({
    testClock: async (accountId) =>
      accountId === 'turned'
        ? { aheadMs: 2 * HOUR_MS, turnedTo: later(2), provisionedForLive }
        : { aheadMs: 0, turnedTo: null, provisionedForLive },
  });
  const made = new AccountClock(() => clocks);
  made.now = () => MACHINE;
  return made;
}

const shown = async (
  accountId: string | null,
  environment: Environment | null,
  { due, live = false }: { due?: string; live?: boolean } = {},
): Promise<string> => (await clock(live).of({ accountId, environment }, due)).toISOString();

describe("an account's clock", () => {
  it('is ahead in the test environment of an account that has turned it', async () => {
    expect(await shown('turned', 'test')).toBe(later(2));
  });

  it("shows the machine's time to live traffic, to other accounts and to the installation", async () => {
    expect(await shown('turned', 'live')).toBe(later(0));
    expect(await shown('other', 'test')).toBe(later(0));
    expect(await shown(null, null)).toBe(later(0));
  });

  it('moves what both environments share only if the account has no live traffic', async () => {
    expect(await shown('turned', null)).toBe(later(2));
    expect(await shown('turned', null, { live: true })).toBe(later(0));
  });

  it('lets something happen at the time that the turn has passed, and something later at the present', async () => {
    expect(await shown('turned', 'test', { due: later(1) })).toBe(later(1));
    expect(await shown('turned', 'test', { due: later(3) })).toBe(later(2));
    expect(await shown('other', 'test', { due: later(-1) })).toBe(later(0));
  });
});

class Leases extends HandlerCheckpoints {
  holder: string | null = null;
  override take = async (_: string, holder: string): Promise<boolean> => (this.holder ??= holder) === holder;
  override release = async (_: string, holder: string): Promise<void> => {
    if (this.holder === holder) this.holder = null;
  };
  override save = (): never => this.unused();
  override passed = (): never => this.unused();
  override forget = (): never => this.unused();
  private unused(): never {
    throw new Error('Only leases are used');
  }
}

describe('the waits that a clock has passed', () => {
  const done: string[] = [];
  const wait = (id: string, hours: number, then: readonly Wait[] = []): Wait => ({
    id,
    at: later(hours),
    settle: async () => {
      done.push(id);
      open.delete(id);
      for (const next of then) open.set(next.id, next);
      return then;
    },
  });
  const open = new Map<string, Wait>();
  const leases = new Leases();
  const begin = (waits: readonly Wait[]): PassedWaits => {
    done.length = 0;
    open.clear();
    for (const one of waits) open.set(one.id, one);
    const account = new SetClock(Date.parse(later(2)));
    return new PassedWaits(() => [new AccountWaits(async () => [...open.values()])], leases, account);
  };

  it('end in order of time, together with the waits that follow from them, and later waits stay', async () => {
    const passed = begin([
      wait('third', 1.5),
      wait('first', 0.5, [wait('second', 1, [wait('late', 3)])]),
      wait('later', 4),
    ]);
    expect(await passed.any('turned')).toBe(true);
    await passed.settle('turned');
    expect(done).toEqual(['first', 'second', 'third']);
    expect([await passed.any('turned'), [...open.keys()].sort()]).toEqual([false, ['late', 'later']]);
  });

  it('end although one of them fails, and the fault is thrown at the end', async () => {
    const failing: Wait = { ...wait('failing', 0.5), settle: () => Promise.reject(new Error('broken')) };
    const passed = begin([failing, wait('other', 1)]);
    await expect(passed.settle('turned')).rejects.toThrow('broken');
    expect([done, leases.holder, await passed.any('turned')]).toEqual([['other'], null, true]);
  });

  it('end once when two processes try at the same time', async () => {
    const passed = begin([wait('first', 0.5), wait('second', 1)]);
    await Promise.all([passed.settle('turned'), passed.settle('turned')]);
    expect(done).toEqual(['first', 'second']);
  });

  it('are looked for once for all callers at the same time, and not all of them', async () => {
    const asked: unknown[] = [];
    const kind = new AccountWaits(async (_, most) => {
      asked.push(most);
      return [wait('first', 1)];
    });
    const passed = new PassedWaits(() => [kind], new Leases(), clock());
    expect(await Promise.all([passed.any('turned'), passed.any('turned')])).toEqual([true, true]);
    expect(asked).toEqual([100]);
    expect([await passed.any('turned'), asked.length]).toEqual([true, 2]);
  });

  it('may be open while the lists are behind the log', async () => {
    const behind = new AccountWaits(() => Promise.reject(new Unavailable('behind')));
    expect(await new PassedWaits(() => [behind], leases, new SetClock()).any('turned')).toBe(true);
  });
});
