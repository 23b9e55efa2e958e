import type { CommandBus } from '@nestjs/cqrs';
import { listOf } from '../../../kernel/projection.js';
import { together } from '../../../kernel/together.js';
import type { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { Wait } from '../../../ports/account-waits.js';
import { expiresAt, screeningSession } from '../domain/screening-session.js';
import { screeningStatus } from '../read/screening-status.js';
import { ExpireSession } from './expire-session.js';

const OPEN = ['STEP_UP_REQUIRED', 'OTP_PENDING', 'KBA_PENDING'] as const;
const READ_TOGETHER = 16;

/** Lists that include everything in the log (see platform/subscriptions/complete-lists.ts). */
interface Lists {
  idsIn(projection: typeof screeningStatus, list: string): Promise<string[]>;
}

/** The sessions of a test account that expire without an answer. */
export class StepUpWaits {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly lists: Lists,
    private readonly commands: CommandBus,
  ) {}

  async of(account: string): Promise<readonly Wait[]> {
    const lists = OPEN.map((overallStatus) => listOf({ account, environment: 'test', overallStatus }));
    const ids = await Promise.all(lists.map((list) => this.lists.idsIn(screeningStatus, list)));
    const waits: Wait[] = [];
    await together(ids.flat(), READ_TOGETHER, async (sessionId) => {
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
