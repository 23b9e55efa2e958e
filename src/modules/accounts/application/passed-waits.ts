// Ends the waits that the clock of a test account has passed (docs/contract/server.md#test-clock).
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { together } from '../../../kernel/together.js';
import { Unavailable } from '../../../kernel/unavailable.js';
import type { AccountWaits, Wait } from '../../../ports/account-waits.js';
import type { HandlerCheckpoints } from '../../../ports/handler-checkpoints.js';

/** Longer than one wait takes. */
const LEASE_MS = 60_000;
const ACCOUNTS_TOGETHER = 4;
const LOOK_AGAIN_MS = 200;

/** Some of the first waits may be pings, which end a few seconds later than they are listed. */
const ENOUGH = 100;

export class PassedWaits {
  private readonly asked = new Map<string, Promise<boolean>>();

  constructor(
    private readonly kinds: () => readonly AccountWaits[],
    private readonly checkpoints: HandlerCheckpoints,
    private readonly clock: Clock,
  ) {}

  /** Whether something is due in the account's test environment, or whether this is unknown at present. Callers at the same time share the answer. */
  any(accountId: string): Promise<boolean> {
    const asked = this.asked.get(accountId) ?? this.look(accountId).finally(() => this.asked.delete(accountId));
    this.asked.set(accountId, asked);
    return asked;
  }

  private async look(accountId: string): Promise<boolean> {
    try {
      return (await this.due(accountId, ENOUGH)).length > 0;
    } catch (error) {
      if (error instanceof Unavailable) return true;
      throw error;
    }
  }

  /**
   * Does what is due, one after another, in order of time. One process at a time does this for an account, and the others wait. The fault of one
   * object never delays the others. The first fault is thrown at the end.
   */
  async settle(accountId: string): Promise<void> {
    const [lease, holder] = [`test_clock_${accountId}`, newId()];
    const goesOn = (): Promise<boolean> => this.checkpoints.take(lease, holder, LEASE_MS);
    for (const endsAt = performance.now() + LEASE_MS; !(await goesOn()); await pause(LOOK_AGAIN_MS))
      if (performance.now() > endsAt || !(await this.any(accountId))) return;
    try {
      await this.inOrder(accountId, goesOn);
    } finally {
      await this.checkpoints.release(lease, holder);
    }
  }

  /** As `settle`, for several accounts. The fault of one account never delays the others. */
  async settleAll(accountIds: readonly string[]): Promise<void> {
    const faults: unknown[] = [];
    await together([...accountIds], ACCOUNTS_TOGETHER, async (accountId) => {
      await this.settle(accountId).catch((error: unknown) => faults.push(error));
    });
    if (faults.length > 0) throw faults[0];
  }

  private async inOrder(accountId: string, goesOn: () => Promise<boolean>): Promise<void> {
    const faults: unknown[] = [];
    const tried = new Set<string>();
    const isNew = ({ id, at }: Wait): boolean => !tried.has(`${id} ${at}`);
    for (let due = await this.due(accountId); due.some(isNew); due = await this.due(accountId)) {
      let waits = due.filter(isNew).sort(byTime);
      for (let next = waits.shift(); next !== undefined && (await goesOn()); next = waits.shift()) {
        tried.add(`${next.id} ${next.at}`);
        try {
          const following = await this.isDue(accountId, await next.settle());
          if (following.length > 0) waits = [...waits, ...following.filter(isNew)].sort(byTime);
        } catch (error) {
          faults.push(error);
        }
      }
    }
    if (faults.length > 0) throw faults[0];
  }

  private async due(accountId: string, most?: number): Promise<readonly Wait[]> {
    const waits = await Promise.all(this.kinds().map((kind) => kind.of(accountId, most)));
    return this.isDue(accountId, waits.flat());
  }

  private async isDue(accountId: string, waits: readonly Wait[]): Promise<readonly Wait[]> {
    const now = await this.clock.of({ accountId, environment: 'test' });
    return waits.filter(({ at }) => new Date(at) <= now);
  }
}

function byTime(one: Wait, other: Wait): number {
  return Date.parse(one.at) - Date.parse(other.at);
}
