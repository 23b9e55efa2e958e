// Events as the domain uses them and as the log stores them. Every layer uses these types.
import type { Actor } from './actor.js';
import type { AskedBy } from './asked-by.js';
import type { AnsweredCall } from './answered-call.js';
import type { Environment } from './environment.js';

/** A change that happened, named in the past tense. An event contains only ids, enums, amounts, times and vault references. */
export interface DomainEvent<Type extends string = string, Data extends object = object> {
  readonly type: Type;
  readonly data: Data;
}

/** One link of a stream's hash chain (docs/architecture.md#the-hash-chain). */
export interface ChainLink {
  readonly alg: 'sha-256';
  /** The hash of the previous event, lowercase hex. */
  readonly prev: string;
  readonly hash: string;
}

/** The metadata of an event. The event store indexes the `$` names. */
export interface EventMetadata {
  readonly schemaVersion: number;
  /** The account to which the fact belongs; null only for facts of the installation itself. */
  readonly accountId: string | null;
  readonly environment: Environment | null;
  /** The time of the change, ISO 8601 UTC with milliseconds. */
  readonly occurredAt: string;
  /** The machine's time of the change, if the account has turned its test clock. `occurredAt` is then the account's time. */
  readonly recordedAt?: string;
  /** The request or timer run that led to this event. */
  readonly $correlationId: string;
  /** The id of the command or event that led to this event. */
  readonly $causationId: string;
  readonly actor: Actor;
  /** Absent if no request led to the event at once, and in events of older releases. */
  readonly askedBy?: AskedBy;
  /** The vendor's answer that led to the event. Absent if the vendor was not called, and in events of older releases. */
  readonly vendorCall?: AnsweredCall;
  /** The operator's reason, in the operator's words. */
  readonly reason?: string;
  /** The ticket that the operator named. */
  readonly ticket?: string;
  readonly chain: ChainLink;
}

/** An event as the log returns it. */
export interface RecordedEvent<Event extends DomainEvent = DomainEvent> {
  readonly id: string;
  readonly stream: string;
  /** The event's number in its stream, from 0, without gaps. */
  readonly revision: number;
  /** The position in the whole log. A position is opaque, but the positions of one store sort as strings. */
  readonly position: string;
  readonly type: Event['type'];
  readonly data: Event['data'];
  readonly metadata: EventMetadata;
}

/** The machine's time of the change, ISO 8601 UTC. */
export function machineTimeOf({ recordedAt, occurredAt }: Pick<EventMetadata, 'recordedAt' | 'occurredAt'>): string {
  return recordedAt ?? occurredAt;
}

/** The `category` of `<category>-<id>`. Categories contain no dash. */
export function categoryOf(stream: string): string {
  const dash = stream.indexOf('-');
  return dash < 0 ? stream : stream.slice(0, dash);
}

/** The `id` of `<category>-<id>`. */
export function idOf(stream: string): string {
  return stream.slice(stream.indexOf('-') + 1);
}
