// When deliveries are due, kept by BullMQ in two lanes; the workers that make the attempts are in `workers.ts`.
import { Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { Unavailable } from '../../kernel/unavailable.js';
import { type Backlog, DeliveryQueue, type DueDelivery } from '../../ports/delivery-queue.js';
import { BoundedRedis } from '../redis/bounded-redis.js';
import { withTimeout } from '../../kernel/with-timeout.js';
import { type DeliveryJobData, jobIdOf, JOB_NAME, JOB_OPTIONS, LANES, type LaneName } from './lanes.js';
import { Paces } from './pace.js';

export interface DeliveryQueueOptions {
  /** The receiver's time limit, milliseconds: a job that was taken longer ago is not being attempted but waits in a worker's memory. */
  readonly attemptMs: number;
  /** Over one exchange with Redis, milliseconds; default 5,000. */
  readonly limitMs?: number;
}

/** `moved`: to the slow lane, from a worker that has the job from the fast one. */
type Route = LaneName | 'moved';

/** What is asked for in one turn of the event loop, on its way to one lane. */
interface Packet {
  readonly jobs: DeliveryJobData[];
  readonly stored: Promise<void>;
}

type Lane = Queue<DeliveryJobData, void>;

const MAX_JOBS_IN_PACKET = 250;
const CLOSING_MS = 1_000;
/** How much longer than the receiver's limit an attempt may take, milliseconds. */
const GRACE_MS = 2_000;

/** Says of each job whether a lane has it. */
const WHICH_ARE_THERE = `
local there = {}
for index = 2, #ARGV do there[index - 1] = redis.call('EXISTS', ARGV[1] .. ARGV[index]) end
return there
`;

/**
 * What is asked for in one turn of the event loop leaves together. A job begins in the fast lane unless it is due now and this
 * process knows its endpoint as slow; it is in one lane only, but for the moment in which a worker moves it over.
 */
export class BullMqDeliveryQueue extends DeliveryQueue {
  private readonly connection: BoundedRedis;
  private readonly lanes: Readonly<Record<LaneName, Lane>>;
  private readonly packets = new Map<Route, Packet>();

  /** `redis` is the caller's. `paces` is what the workers of this process learn of endpoints. */
  constructor(
    readonly redis: Redis,
    private readonly options: DeliveryQueueOptions,
    readonly paces = new Paces(),
  ) {
    super();
    this.connection = new BoundedRedis(redis, options.limitMs ?? 5_000);
    this.lanes = { fast: this.lane(LANES.fast), slow: this.lane(LANES.slow) };
  }

  override enqueue({ deliveryId, accountId, endpointId, kind, turn }: DueDelivery, at: Date): Promise<void> {
    const dueAt = at.getTime();
    const route = dueAt <= Date.now() && this.paces.isSlow(endpointId) ? 'slow' : 'fast';
    return this.send(route, { deliveryId, accountId, endpointId, kind, turn, dueAt });
  }

  /** For a worker that has the job from the fast lane and finishes it there afterwards. */
  moveToSlowLane(job: DeliveryJobData): Promise<void> {
    return this.send('moved', job);
  }

  /** Of the slow lane, from among those that wait for their time. Nothing happens to others, and to those that are gone. */
  async bringBack(jobIds: readonly string[]): Promise<void> {
    const promote = (id: string): Promise<void> =>
      new Job(this.lanes.slow, JOB_NAME, null, {}, id).promote().catch(() => undefined);
    await this.bounded(() => Promise.all(jobIds.map(promote)));
  }

  override async backlog(): Promise<Backlog> {
    const [fast, slow] = await this.bounded(() =>
      Promise.all([this.backlogOf(this.lanes.fast), this.backlogOf(this.lanes.slow)]),
    );
    return {
      waiting: fast.waiting + slow.waiting,
      delayed: fast.delayed + slow.delayed,
      active: fast.active + slow.active,
      oldestDueMs: Math.max(fast.oldestDueMs, slow.oldestDueMs),
    };
  }

  /** The connection stays open. */
  async close(): Promise<void> {
    await withTimeout(CLOSING_MS, Promise.all([this.lanes.fast.close(), this.lanes.slow.close()]));
  }

  private lane(name: string): Lane {
    // Nobody reads the event stream, so it is kept short.
    const lane: Lane = new Queue(name, {
      connection: this.redis,
      defaultJobOptions: JOB_OPTIONS,
      streams: { events: { maxLen: 100 } },
    });
    // Whoever uses the lane is told; an error event nobody hears would end the process.
    lane.on('error', () => undefined);
    return lane;
  }

  private send(route: Route, job: DeliveryJobData): Promise<void> {
    let packet = this.packets.get(route);
    if (packet === undefined || packet.jobs.length >= MAX_JOBS_IN_PACKET) {
      packet = this.packet(route);
      this.packets.set(route, packet);
    }
    packet.jobs.push(job);
    return packet.stored;
  }

  /** Closed and sent when the event loop has gone once round. */
  private packet(route: Route): Packet {
    const jobs: DeliveryJobData[] = [];
    const stored = new Promise<void>((resolve, reject) => {
      setImmediate(() => {
        if (this.packets.get(route)?.jobs === jobs) this.packets.delete(route);
        this.store(route, jobs).then(resolve, reject);
      });
    });
    return { jobs, stored };
  }

  private async store(route: Route, jobs: readonly DeliveryJobData[]): Promise<void> {
    await this.bounded(async (redis) => {
      const unknown =
        route === 'moved' ? jobs : await this.withoutKnown(redis, route === 'fast' ? 'slow' : 'fast', jobs);
      if (unknown.length === 0) return;
      const now = Date.now();
      await this.lanes[route === 'fast' ? 'fast' : 'slow'].addBulk(
        unknown.map((data) => ({
          name: JOB_NAME,
          data,
          opts: { jobId: jobIdOf(data), ...(data.dueAt > now && { delay: data.dueAt - now }) },
        })),
      );
    });
  }

  /** The jobs that the other lane does not have already; its own lane refuses a second one by itself. */
  private async withoutKnown(
    redis: Redis,
    other: LaneName,
    jobs: readonly DeliveryJobData[],
  ): Promise<readonly DeliveryJobData[]> {
    const there = (await redis.eval(
      WHICH_ARE_THERE,
      0,
      this.lanes[other].toKey(''),
      ...jobs.map(jobIdOf),
    )) as readonly number[];
    return jobs.filter((_, index) => there[index] !== 1);
  }

  private async backlogOf(lane: Lane): Promise<Backlog> {
    const [counts, waiting, delayed, active] = await Promise.all([
      lane.getJobCounts('wait', 'delayed', 'active'),
      lane.getJobs('wait', 0, 0, true),
      lane.getJobs('delayed', 0, 0, true),
      lane.getJobs('active', 0, 0, true),
    ]);
    const now = Date.now();
    const parked = active.filter((job) => now - (job.processedOn ?? now) > this.options.attemptMs + GRACE_MS);
    return {
      waiting: counts['wait'] ?? 0,
      delayed: counts['delayed'] ?? 0,
      active: counts['active'] ?? 0,
      oldestDueMs: Math.max(0, ...[...waiting, ...delayed, ...parked].map(({ data }) => now - data.dueAt)),
    };
  }

  private async bounded<Reply>(exchange: (redis: Redis) => Promise<Reply>): Promise<Reply> {
    try {
      return await this.connection.use(exchange);
    } catch (cause) {
      throw new Unavailable('The queue of deliveries cannot be reached', { cause });
    }
  }
}
