// How the attempts are settled that no worker recorded the end of: its process died, or the vendor was late.
import type { Provider } from '@nestjs/common';
import { CommandBus, type ICommand } from '@nestjs/cqrs';
import { Clock } from '../kernel/clock.js';
import { ENVIRONMENTS, type Environment } from '../kernel/environment.js';
import { RecoveryJob } from '../platform/subscriptions/recovery-job.js';
import type { VendorKind } from './external-call.js';
import { QueuedExternalCalls } from './queued-external-calls.js';

/** Names the one timer of all recovery of external calls. */
const RECOVERY_JOB = 'external-calls';

/** How the open attempts of one kind of aggregate at one vendor are settled. */
export class AttemptRecovery {
  constructor(
    readonly vendor: VendorKind,
    /** Names its jobs, once in the service. */
    readonly operation: string,
    /** In a worker. Safe to repeat: what fails, or is still open, is due again at the next run. */
    readonly settle: (id: string, signal: AbortSignal) => Promise<unknown>,
  ) {}
}

type Class = abstract new (...needs: never[]) => unknown;
type InstancesOf<Classes extends readonly Class[]> = {
  readonly [Index in keyof Classes]: InstanceType<Classes[Index]>;
};

interface Declaration<Classes extends readonly Class[]> extends Pick<AttemptRecovery, 'vendor' | 'operation'> {
  /** Read what is due. */
  readonly inject: Classes;
  /** Ids of the aggregates whose attempts are due in that environment, the most overdue first, at most so many. */
  due(environment: Environment, now: Date, limit: number, ...readers: InstancesOf<Classes>): Promise<string[]>;
  /** The id of the vendor that the aggregate recorded, where it records one. */
  vendorOf?(id: string, ...readers: InstancesOf<Classes>): Promise<string | undefined>;
  /** Asks the vendor what came of the attempt, or ends it. `signal` is aborted when the time for the vendor's answer is over. */
  settle(id: string, signal: AbortSignal): ICommand;
}

/**
 * For the `providers` of a feature module. The recovery job of external calls makes no call: it only puts what is due into the
 * queue of its vendor and environment, where a worker settles it. A vendor that hangs in test delays neither live nor another
 * vendor.
 */
export function attemptRecovery<const Classes extends readonly Class[]>(kind: Declaration<Classes>): Provider[] {
  const { vendor, operation, inject } = kind;
  const token = Symbol(`attempt recovery ${operation}`);
  return [
    {
      provide: token,
      useFactory: (commands: CommandBus) =>
        new AttemptRecovery(vendor, operation, (id, signal) => commands.execute(kind.settle(id, signal))),
      inject: [CommandBus],
    },
    ...ENVIRONMENTS.map((environment) => ({
      provide: Symbol(`recovery job ${operation} in ${environment}`),
      useFactory: (
        recovery: AttemptRecovery,
        calls: QueuedExternalCalls,
        clock: Clock,
        ...readers: InstancesOf<Classes>
      ) =>
        new RecoveryJob(
          RECOVERY_JOB,
          (limit) => kind.due(environment, clock.now(), limit, ...readers),
          async (id) => calls.settle(recovery, environment, id, await kind.vendorOf?.(id, ...readers)),
        ),
      inject: [token, QueuedExternalCalls, Clock, ...inject],
    })),
  ];
}
