import type { CommandBus } from '@nestjs/cqrs';
import { together } from '../../../kernel/together.js';
import type { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { Wait } from '../../../ports/account-waits.js';
import { expiresAt, screeningSession } from '../domain/screening-session.js';
import { ExpireSession } from './expire-session.js';

const READ_TOGETHER = 16;

/** The sessions of a test account that expire without an answer. */
export class StepUpWaits {
  constructor(
    private readonly aggregates: AggregateStore,
    /** The ids of at least these sessions of an account, complete. */
    private readonly open: (accountId: string) => Promise<readonly string[]>,
    private readonly commands: CommandBus,
  ) {}

  async of(accountId: string): Promise<readonly Wait[]> {
    const waits: Wait[] = [];
    await together([...(await this.open(accountId))], READ_TOGETHER, async (sessionId) => {
      const at = expiresAt((await this.aggregates.load(screeningSession, sessionId)).state);
      if (at !== null) waits.push({ id: `session ${sessionId}`, at, settle: () => this.expire(sessionId) });
    });
    return waits;
  }

  private async expire(sessionId: string): Promise<readonly Wait[]> {
    await this.commands.execute(new ExpireSession(sessionId));
    return [];
  }
}
