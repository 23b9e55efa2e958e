// Settles attempts whose end no worker recorded, because the attempt's process died or the vendor was late.
import type { Provider } from '@nestjs/common';
import { CommandBus, type ICommand } from '@nestjs/cqrs';
import { Clock } from '../kernel/clock.js';
import { ENVIRONMENTS, type Environment } from '../kernel/environment.js';
import { RecoveryJob } from '../platform/subscriptions/recovery-job.js';
import type { VendorKind } from './external-call.js';
import { ExternalCalls } from './external-calls.js';

/** The name of the single timer for the recovery of all external calls. */
const RECOVERY_JOB = 'external-calls';

/** The recovery of the open attempts at one vendor for one kind of aggregate. */
export class AttemptRecovery {
  constructor(
    readonly vendor: VendorKind,
    /** The name of the recovery's jobs, unique in the service. */
    readonly operation: string,
    /** Runs in a worker. Safe to repeat: an attempt that fails or stays open is due again at the next run. */
    readonly settle: (id: string, signal: AbortSignal, noticed: boolean) => Promise<unknown>,
    readonly askedFor: (id: string) => Promise<AskedVendor | null> = async () => null,
  ) {}
}

/** The vendor that an aggregate asks for one kind of call. `vendor` is absent if the aggregate records none. */
export interface AskedVendor {
  readonly vendor?: string | undefined;
  readonly environment: Environment | null;
}

type Class = abstract new (...needs: never[]) => unknown;
type InstancesOf<Classes extends readonly Class[]> = {
  readonly [Index in keyof Classes]: InstanceType<Classes[Index]>;
};

interface Declaration<Classes extends readonly Class[]> extends Pick<AttemptRecovery, 'vendor' | 'operation'> {
  /** The readers that list due attempts. */
  readonly inject: Classes;
  /** The ids of at most `limit` aggregates with due attempts in that environment, the most overdue first. */
  due(environment: Environment, now: Date, limit: number, ...readers: InstancesOf<Classes>): Promise<string[]>;
  /** Null for an id that names no aggregate. Absent if all aggregates ask the first vendor. */
  askedFor?(id: string, ...readers: InstancesOf<Classes>): Promise<AskedVendor | null>;
  /**
   * Asks the vendor for the result of the attempt, or ends the attempt. `signal` aborts when the time limit for the vendor's answer has passed. After a
   * notice of the vendor (`noticed`), an attempt that waits for the next question is settled now.
   */
  settle(id: string, signal: AbortSignal, noticed: boolean): ICommand;
}

/**
 * For the `providers` of a feature module. The recovery job of external calls makes no call itself. This job puts due attempts into the queue of
 * their vendor and environment, and a worker settles them. A vendor that hangs in test therefore delays neither live traffic nor another vendor.
 */
export function attemptRecovery<const Classes extends readonly Class[]>(kind: Declaration<Classes>): Provider[] {
  const { vendor, operation, inject } = kind;
  const token = Symbol(`attempt recovery ${operation}`);
  return [
    {
      provide: token,
      useFactory: (commands: CommandBus, ...readers: InstancesOf<Classes>) =>
        new AttemptRecovery(
          vendor,
          operation,
          (id, signal, noticed) => commands.execute(kind.settle(id, signal, noticed)),
          async (id) => (await kind.askedFor?.(id, ...readers)) ?? null,
        ),
      inject: [CommandBus, ...inject],
    },
    ...ENVIRONMENTS.map((environment) => ({
      provide: Symbol(`recovery job ${operation} in ${environment}`),
      useFactory: (recovery: AttemptRecovery, calls: ExternalCalls, clock: Clock, ...readers: InstancesOf<Classes>) =>
        new RecoveryJob(
          RECOVERY_JOB,
          (limit) => kind.due(environment, clock.now(), limit, ...readers),
          async (id) => calls.settle(recovery, environment, { id, vendor: (await recovery.askedFor(id))?.vendor }),
        ),
      inject: [token, ExternalCalls, Clock, ...inject],
    })),
  ];
}
