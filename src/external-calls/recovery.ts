import { Injectable } from '@nestjs/common';
import { scheduleRecovery } from '../platform/subscriptions/recovery-job.js';
import { Scheduler } from '../ports/scheduler.js';

/** What one kind of aggregate has the recovery job do. */
export interface Recoverable {
  /** Ids of aggregates with an attempt whose time is over, the most overdue first, at most so many. */
  readonly due: (limit: number) => Promise<string[]>;
  /** Asks the vendor what came of the attempt, or gives it up. Safe to repeat: what fails is due again at the next run. */
  readonly settle: (id: string) => Promise<unknown>;
}

/** The one recovery job of external calls: settles every attempt that no worker recorded the end of, wherever its process died. */
@Injectable()
export class ExternalCallRecovery {
  private readonly recoverables: Recoverable[] = [];

  constructor(timers: Scheduler) {
    scheduleRecovery(timers, {
      name: 'external-calls',
      due: async (limit) => {
        const due = await Promise.all(this.recoverables.map(({ due }) => due(limit)));
        // In turn, so that many of one kind do not keep the others waiting.
        return due
          .flatMap((ids, kind) => ids.map((id, rank) => ({ id, rank, settle: this.recoverables[kind]?.settle })))
          .sort((one, other) => one.rank - other.rank);
      },
      settle: async ({ id, settle }) => settle?.(id),
    });
  }

  add(recoverable: Recoverable): void {
    this.recoverables.push(recoverable);
  }
}
