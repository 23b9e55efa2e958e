// What the module of the vendors needs to put a vendor behind its queues, one an environment: one description becomes Nest's providers.
import { getQueueToken, type RegisterQueueOptions } from '@nestjs/bullmq';
import type { Abstract, Provider } from '@nestjs/common';
import type { Redis } from 'ioredis';
import type { Environment } from '../../kernel/environment.js';
import type { Clock } from '../../kernel/clock.js';
import type { RedisSealedPayloads } from '../sealed-payloads/redis.js';
import { QueuedCalls, type Backlog } from './caller.js';
import { queueOptions, type CallQueue, type Calls, type CallSettings } from './queue.js';
import { callWorkerOf } from './worker.js';

/** What all vendors of one process have in common; also the injection token. */
export abstract class VendorSurroundings {
  /** For commands, and the connection of `payloads`. */
  abstract readonly redis: Redis;
  abstract readonly payloads: RedisSealedPayloads;
  abstract readonly clock: Clock;
  /** Hears of every call that this process makes. `vendor` is the queue's name. */
  abstract called(vendor: string, operation: string, outcome: string, seconds: number): void;
  /** Is given, once for each queue, what tells how much waits in it. */
  abstract queued(queue: string, backlog: () => Promise<Backlog>): void;
}

export interface VendorBehindQueue<Port, Operations> {
  readonly port: Abstract<Port>;
  readonly queue: CallQueue<Operations>;
  /** The port's queued adapter: what everybody who injects the port gets. */
  readonly adapter: new (calls: Pick<QueuedCalls<Operations>, 'make'>) => Port;
  /** What a worker calls. */
  readonly real: Calls<Operations>;
  readonly settings: CallSettings;
}

export interface QueuedVendor {
  /** For `BullModule.registerQueue`. */
  readonly queues: readonly RegisterQueueOptions[];
  readonly providers: readonly Provider[];
  /** The token to export. */
  readonly port: Abstract<unknown>;
}

/**
 * Live and test have a queue, a worker and its slots each. Who waits in the process of a worker is told its verdict in memory.
 */
export function queuedVendor<Port, Operations>(
  /** Whether this process makes the calls too. */
  worker: boolean,
  vendor: VendorBehindQueue<Port, Operations>,
): QueuedVendor {
  const { port, adapter } = vendor;
  const live = queueOf(worker, vendor, 'live');
  const test = queueOf(worker, vendor, 'test');
  const queued: Provider = {
    provide: port,
    useFactory: (ofLive: QueuedCalls<Operations>, ofTest: QueuedCalls<Operations>) =>
      new adapter({
        make: (operation, call, ...input) =>
          (call.environment === 'live' ? ofLive : ofTest).make(operation, call, ...input),
      }),
    inject: [live.callsToken, test.callsToken],
  };
  return { queues: [live.queue, test.queue], port, providers: [...live.providers, ...test.providers, queued] };
}

function queueOf<Port, Operations>(
  worker: boolean,
  { queue, real, settings }: VendorBehindQueue<Port, Operations>,
  environment: Environment,
): { readonly callsToken: string; readonly queue: RegisterQueueOptions; readonly providers: readonly Provider[] } {
  const name = `${queue.name}-${environment}`;
  const own = { ...queue, name };
  const callsToken = `QueuedCalls/${name}`;
  const OwnWorker = callWorkerOf(name);
  const calls: Provider = {
    provide: callsToken,
    useFactory: (around: VendorSurroundings, jobs: ConstructorParameters<typeof QueuedCalls>[1]) => {
      const { redis, payloads, clock } = around;
      const made = new QueuedCalls(own, jobs, redis, payloads, clock, settings);
      around.queued(name, () => made.backlog());
      return made;
    },
    inject: [VendorSurroundings, getQueueToken(name)],
  };
  const ownWorker: Provider = {
    provide: OwnWorker,
    useFactory: (around: VendorSurroundings, nearby: QueuedCalls<Operations>) =>
      new OwnWorker(
        own,
        real,
        around.redis,
        around.payloads,
        around.clock,
        settings,
        (operation, outcome, seconds) => around.called(queue.name, operation, outcome, seconds),
        nearby,
      ),
    inject: [VendorSurroundings, callsToken],
  };
  return { callsToken, queue: queueOptions(name), providers: worker ? [calls, ownWorker] : [calls] };
}
