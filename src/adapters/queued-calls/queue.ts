// The queue between the application and the workers that call a vendor: its operations, what its jobs carry, its options.
import type { DefaultJobOptions } from 'bullmq';
import type { VendorCall } from '../../ports/vendor-call.js';
import { asJson, fromJson, type Packing } from './packing.js';

/** What every verdict of every vendor has. */
export interface AnyVerdict {
  readonly kind: string;
}

/** What an operation of a port takes after the call, and what it answers. */
export type InputOf<Made> = Made extends (call: VendorCall, ...input: infer Input) => unknown ? Input : never;
export type VerdictOf<Made> = Made extends (...all: never[]) => Promise<infer Verdict> ? Verdict : never;

/**
 * What a second request for one attempt becomes. Whichever it is, a job leads to one call at most: who takes its input has
 * it alone.
 *
 * - `never`: a second request must not become a second call. The attempt's id is the job's, so that requests at once are one
 *   job wherever they come from; one from another process is left without a verdict.
 * - `idempotent`: the vendor's idempotency key makes a second call harmless. Requests at once in this process share a job;
 *   every other is a job of its own, which no earlier job and no other process can keep from its verdict.
 * - `question`: it changes nothing. Every request is a job of its own, and hears what holds now.
 */
export type Repetition = 'never' | 'idempotent' | 'question';

export interface Operation<Verdict> {
  readonly repetition: Repetition;
  /** How verdicts are made bytes on their way through Redis; JSON unless it is said here. */
  readonly packing?: Packing<Verdict>;
}

/** A vendor's queue: its name, by which metrics know the vendor too, and every operation of `Port` that can be asked for through it. */
export interface CallQueue<Port> {
  readonly name: string;
  readonly operations: { readonly [Name in keyof Port]: Operation<VerdictOf<Port[Name]>> };
}

/** What a worker calls: the real adapter, or whatever else makes the operations of `Port`. */
export type Calls<Port> = {
  readonly [Name in keyof Port]: (call: VendorCall, ...input: InputOf<Port[Name]>) => Promise<VerdictOf<Port[Name]>>;
};

/** References only: everything personal lies sealed under `payloadRef` until a worker takes it. */
export interface CallJobData extends VendorCall {
  /** Null for a question without input. */
  readonly payloadRef: string | null;
  /** Epoch milliseconds; from then on nobody waits and the call must not be made. */
  readonly deadline: number;
  /** Names the process that waits, and with it the channel on which it listens. */
  readonly replyTo: string;
}

/** What the job leaves behind (in BullMQ's event stream, bounded): never the verdict itself. */
export interface CallJobResult {
  readonly kind: AnyVerdict['kind'];
  /** False when nobody was waiting any more, so that nothing was handed back. */
  readonly handedBack: boolean;
}

/** `timeoutMs` is over the whole exchange: queueing, the vendor and the way back. */
export class CallSettings {
  constructor(
    readonly timeoutMs: number,
    /** Calls that one worker process has under way at once. */
    readonly concurrency = 64,
    /** How long a worker that is closing lets its running calls go on. */
    readonly drainMs = 10_000,
  ) {}
}

/** Never run twice by BullMQ, and gone from Redis when it is over. */
const JOB_OPTIONS = {
  attempts: 1,
  removeOnComplete: true,
  removeOnFail: true,
  stackTraceLimit: 0,
} as const satisfies DefaultJobOptions;

/** For `BullModule.registerQueue`, or for `new Queue` beside the connection. Nobody reads the event stream, so it is kept short. */
export function queueOptions(name: string): {
  name: string;
  defaultJobOptions: DefaultJobOptions;
  streams: { events: { maxLen: number } };
} {
  return { name, defaultJobOptions: JOB_OPTIONS, streams: { events: { maxLen: 100 } } };
}

/** The operation of that name; null for one of another release that this one does not know. */
export function operationOf<Port>(queue: CallQueue<Port>, name: string): Operation<AnyVerdict> | null {
  const operations = queue.operations as Readonly<Record<string, Operation<AnyVerdict>>>;
  return Object.hasOwn(operations, name) ? (operations[name] ?? null) : null;
}

const JSON_PACKING: Packing<AnyVerdict> = { pack: asJson, unpack: (bytes) => fromJson(bytes) as AnyVerdict };

export function packingOf(operation: Operation<AnyVerdict> | null): Packing<AnyVerdict> {
  return operation?.packing ?? JSON_PACKING;
}

export function replyChannel(queue: string, replyTo: string): string {
  return `${queue}:replies:${replyTo}`;
}

/** Under which a verdict is sealed. */
export function verdictName(queue: string, jobId: string): string {
  return `${queue}-verdict/${jobId}`;
}
