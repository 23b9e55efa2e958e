// The queues between those who have calls made and the workers: one a vendor and environment, so that calls to one vendor, or
// of the test environment, never wait before those to another, or of live, nor take their slots.
import type { DefaultJobOptions, Job, QueueOptions } from 'bullmq';
import { ENVIRONMENTS, type Environment } from '../kernel/environment.js';
import { FIRST_VENDORS } from '../kernel/vendor-choice.js';
import type { Vendors } from '../ports/vendors.js';
import { CAPABILITY_OF, type Attempt, type VendorKind } from './external-call.js';

/** References only: the input lies sealed under `payloadRef` until the vendor is asked. */
export interface CallJobData extends Omit<Attempt, 'settleAfter'> {
  /** Null in a job of an earlier release, whose process keeps the input. */
  readonly payloadRef: string | null;
  /** Epoch milliseconds; from then on nobody waits and the call must not be made. */
  readonly deadline: number;
  /** Names the process that waits. */
  readonly waiter: string;
}

/** Of a job that settles the open attempt of an aggregate, for which nobody waits. */
export interface SettleJobData {
  /** Of the aggregate. */
  readonly id: string;
}

export type CallJob = Job<CallJobData | SettleJobData, void>;

/** What queues, places and metrics call a vendor: the first of its kind, who also serves calls that name none, by the kind alone. */
export function vendorName(kind: VendorKind, id: string | undefined): string {
  const capability = CAPABILITY_OF[kind];
  return id === undefined || capability === null || id === FIRST_VENDORS[capability] ? kind : `${kind}-${id}`;
}

export function queueName(kind: VendorKind, id: string | undefined, environment: Environment): string {
  return `${vendorName(kind, id)}-${environment}`;
}

/** The queue beside one of calls for jobs that settle attempts: these and callers who wait never keep each other waiting. */
export function settleQueueName(queue: string): string {
  return `${queue}-settle`;
}

interface CallQueue {
  readonly kind: VendorKind;
  readonly name: string;
  /** Whether its jobs settle attempts. */
  readonly settles: boolean;
}

/** Of the first vendors, and of every other one that is set up here. */
export function queuesOf(vendors: Pick<Vendors, 'offering'>): readonly CallQueue[] {
  return (Object.keys(CAPABILITY_OF) as VendorKind[]).flatMap((kind) => {
    const capability = CAPABILITY_OF[kind];
    const ids = capability === null ? [] : vendors.offering(capability);
    const others = ids.filter((id) => vendorName(kind, id) !== kind);
    return [undefined, ...others].flatMap((id) =>
      ENVIRONMENTS.map((environment) => queueName(kind, id, environment)).flatMap((name) => [
        { kind, name, settles: false },
        { kind, name: settleQueueName(name), settles: true },
      ]),
    );
  });
}

/** Never run twice by BullMQ, and gone from Redis when it is over. */
const JOB_OPTIONS = {
  attempts: 1,
  removeOnComplete: true,
  removeOnFail: true,
  stackTraceLimit: 0,
} as const satisfies DefaultJobOptions;

/** Nobody reads the event stream, so it is kept short. */
export const QUEUE_OPTIONS = {
  defaultJobOptions: JOB_OPTIONS,
  streams: { events: { maxLen: 100 } },
} satisfies Omit<QueueOptions, 'connection'>;

/** On which a process hears which of its jobs are over: the job's id and, after a space, the word of its kind if there is one. */
export function channelOf(waiter: string): string {
  return `external-calls:${waiter}`;
}

/** `timeoutMs` is over queueing and the call. */
export interface CallSettings {
  readonly timeoutMs: number;
  /** Calls to one vendor in one environment that one worker process has under way at once. */
  readonly concurrency: number;
}

export type SettingsOf = (vendor: VendorKind) => CallSettings;
