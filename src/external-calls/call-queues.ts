// The queues between callers and workers, one for each vendor and environment. Calls to one vendor never delay calls to another vendor or use their
// slots. Test calls never delay live calls or use their slots either.
import type { DefaultJobOptions, Job, QueueOptions } from 'bullmq';
import { ENVIRONMENTS, type Environment } from '../kernel/environment.js';
import { FIRST_VENDORS, type Capability } from '../kernel/vendor-choice.js';
import type { Vendors } from '../ports/vendors.js';
import { CAPABILITY_OF, type Attempt, type VendorKind } from './external-call.js';

/** The job contains only references. The encrypted input is stored under `payloadRef` until the vendor is called. */
export interface CallJobData extends Omit<Attempt, 'settleAfter'> {
  /** Null in a job of an earlier release, whose process keeps the input itself. */
  readonly payloadRef: string | null;
  /** Epoch milliseconds. After this time no caller waits, and the call must not be made. */
  readonly deadline: number;
  /** The name of the waiting process. */
  readonly waiter: string;
}

/** A job that settles the open attempt of an aggregate. No caller waits for the job. */
export interface SettleJobData {
  /** The aggregate's id. */
  readonly id: string;
  /** Whether a notice of the vendor demands the settlement. */
  readonly noticed?: true;
}

export type CallJob = Job<CallJobData | SettleJobData, void>;

/** The vendor's name in queues, limits and metrics. The first vendor of a kind has the kind's name, and serves calls that name no vendor. */
export function vendorName(kind: VendorKind, id: string | undefined): string {
  const capability = CAPABILITY_OF[kind];
  return id === undefined || capability === null || id === FIRST_VENDORS[capability] ? kind : `${kind}-${id}`;
}

/** The kind of the vendors with the capability. */
export function kindOf(capability: Capability): VendorKind {
  return (Object.keys(CAPABILITY_OF) as VendorKind[]).find((kind) => CAPABILITY_OF[kind] === capability) as VendorKind;
}

/** The id of the vendor that a call reaches. A kind that accounts do not choose has one vendor, with the kind's name. */
export function vendorId(kind: VendorKind, id: string | undefined): string {
  const capability = CAPABILITY_OF[kind];
  return id ?? (capability === null ? kind : FIRST_VENDORS[capability]);
}

export function queueName(kind: VendorKind, id: string | undefined, environment: Environment): string {
  return `${vendorName(kind, id)}-${environment}`;
}

/** The queue for jobs that settle attempts. The queue is separate, so that these jobs and waiting callers never delay each other. */
export function settleQueueName(queue: string): string {
  return `${queue}-settle`;
}

interface CallQueue {
  readonly kind: VendorKind;
  /** The vendor's id, and its name in metrics. */
  readonly vendor: string;
  readonly called: string;
  readonly environment: Environment;
  readonly name: string;
  /** Whether the jobs of this queue settle attempts. */
  readonly settles: boolean;
}

/** The queues of the first vendors and of every other vendor that is configured here. */
export function queuesOf(vendors: Pick<Vendors, 'offering'>): readonly CallQueue[] {
  return (Object.keys(CAPABILITY_OF) as VendorKind[]).flatMap((kind) => {
    const capability = CAPABILITY_OF[kind];
    const ids = capability === null ? [] : vendors.offering(capability);
    const others = ids.filter((id) => vendorName(kind, id) !== kind);
    return [undefined, ...others].flatMap((id) =>
      ENVIRONMENTS.flatMap((environment) => {
        const name = queueName(kind, id, environment);
        const of = { kind, vendor: vendorId(kind, id), called: vendorName(kind, id), environment };
        return [
          { ...of, name, settles: false },
          { ...of, name: settleQueueName(name), settles: true },
        ];
      }),
    );
  });
}

/** BullMQ never runs these jobs twice, and removes them from Redis at their end. */
const JOB_OPTIONS = {
  attempts: 1,
  removeOnComplete: true,
  removeOnFail: true,
  stackTraceLimit: 0,
} as const satisfies DefaultJobOptions;

/** No process reads the event stream, so it is kept short. */
export const QUEUE_OPTIONS = {
  defaultJobOptions: JOB_OPTIONS,
  streams: { events: { maxLen: 100 } },
} satisfies Omit<QueueOptions, 'connection'>;

/** The channel on which a process learns that its jobs have ended. A message is the job's id and, after a space, the result word if any. */
export function channelOf(waiter: string): string {
  return `external-calls:${waiter}`;
}

/** `timeoutMs` includes the time in the queue and the call. */
export interface CallSettings {
  readonly timeoutMs: number;
  /** The number of calls that one worker process makes at once to one vendor in one environment. */
  readonly concurrency: number;
}

export type SettingsOf = (vendor: VendorKind) => CallSettings;
