// The queue between the application and the worker that calls the identity vendor: its name, what its jobs carry, its options.
import { randomUUID } from 'node:crypto';
import type { DefaultJobOptions } from 'bullmq';
import type { PastOutcome, VendorCall } from '../../ports/identity-vendor.js';

export const IDENTITY_VENDOR_QUEUE = 'identity-vendor';

export type VendorOperation = 'register' | 'verifyOtp' | 'resendOtp' | 'verifyKba' | 'outcomeOf';

/** References only: everything personal lies sealed under `payloadRef` until a worker takes it. */
export interface VendorJobData extends VendorCall {
  /** Null for `outcomeOf`, which needs no personal data. */
  readonly payloadRef: string | null;
  /** Epoch milliseconds; from then on nobody waits and the call must not be made. */
  readonly deadline: number;
  /** Names the process that waits, and with it the channel on which it listens. */
  readonly replyTo: string;
}

/** What the job leaves behind (in BullMQ's event stream, bounded): never the verdict itself. */
export interface VendorJobResult {
  readonly kind: AnyVerdict['kind'];
  /** False when nobody was waiting any more, so that nothing was handed back. */
  readonly handedBack: boolean;
}

/** Every verdict of every operation; `outcomeOf` holds all others. */
export type AnyVerdict = PastOutcome | Extract<PastOutcome, { verdict: unknown }>['verdict'];

/** `timeoutMs` is over the whole exchange: queueing, the vendor and the way back. */
export class VendorQueueSettings {
  constructor(
    readonly timeoutMs: number,
    /** Calls that one worker process has under way at once. */
    readonly concurrency = 64,
    /** How long a worker that is closing lets its running calls go on. */
    readonly drainMs = 10_000,
  ) {}
}

/** Never run twice by BullMQ, and gone from Redis when it is over. */
export const VENDOR_JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0 } as const satisfies DefaultJobOptions;

/** For `BullModule.registerQueue` beside the connection. Nobody reads the event stream, so it is kept short. */
export const VENDOR_QUEUE_OPTIONS = { name: IDENTITY_VENDOR_QUEUE, defaultJobOptions: VENDOR_JOB_OPTIONS, streams: { events: { maxLen: 100 } } };

/**
 * The job's id, under which the verdict comes back too. It is the attempt's id, so that enqueueing an attempt twice is one
 * job. Asking what came of an attempt may be repeated, and must not be mistaken for the attempt itself.
 */
export function jobIdOf(operation: VendorOperation, attemptId: string): string {
  return operation === 'outcomeOf' ? `${attemptId}-outcome-${randomUUID()}` : attemptId;
}

export function replyChannel(replyTo: string): string {
  return `identity-vendor:replies:${replyTo}`;
}

export function verdictName(jobId: string): string {
  return `identity-vendor-verdict/${jobId}`;
}
