// Recovery jobs settle work that is due at a certain time, after the process that should have done it died.
import type { Provider, Type } from '@nestjs/common';
import { CommandBus, type ICommand } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { together } from '../../kernel/together.js';
import type { Scheduler } from '../../ports/scheduler.js';

export class RecoveryJob {
  constructor(
    /** The name of the timer. Jobs with one name share one timer. */
    readonly name: string,
    /** The ids of at most `limit` due items, the most overdue first. */
    readonly due: (limit: number) => Promise<string[]>,
    /** Safe to repeat. A failed item is due again at the next run. */
    readonly settle: (id: string) => Promise<unknown>,
  ) {}
}

interface Declaration<Readers extends readonly unknown[]> {
  readonly name: string;
  readonly inject: { readonly [Index in keyof Readers]: Type<Readers[Index]> };
  due(now: Date, limit: number, ...readers: Readers): Promise<string[]>;
  settle(id: string): ICommand;
}

/** For the `providers` of a feature module. Workers of the service schedule the job. */
export function recoveryJob<Readers extends readonly unknown[]>(job: Declaration<Readers>): Provider {
  return {
    provide: Symbol(`recovery job ${job.name}`),
    useFactory: (commands: CommandBus, clock: Clock, ...readers: unknown[]) =>
      new RecoveryJob(
        job.name,
        (limit) => job.due(clock.now(), limit, ...(readers as unknown as Readers)),
        (id) => commands.execute(job.settle(id)),
      ),
    inject: [CommandBus, Clock, ...job.inject],
  };
}

const AT_MOST = 500;
const TOGETHER = 16;

export function scheduleRecovery(timers: Scheduler, everyMs: number, jobs: readonly RecoveryJob[]): void {
  for (const name of new Set(jobs.map((job) => job.name))) {
    const ofName = jobs.filter((job) => job.name === name);
    timers.every(name, everyMs, () => recover(ofName));
  }
}

/** The fault of one item never delays the others. The first fault of a run is reported at the end of the run. */
async function recover(jobs: readonly RecoveryJob[]): Promise<void> {
  const due = await Promise.all(jobs.map((job) => job.due(AT_MOST)));
  // The jobs take turns, so that many items of one kind do not delay the others.
  const items = due
    .flatMap((ids, kind) => ids.map((id, rank) => ({ id, rank, job: jobs[kind] })))
    .sort((one, other) => one.rank - other.rank);
  const faults: unknown[] = [];
  await together(items, TOGETHER, async ({ id, job }) => {
    try {
      await job?.settle(id);
    } catch (error) {
      faults.push(error);
    }
  });
  if (faults.length > 0) throw faults[0];
}
