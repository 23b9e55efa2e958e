// Events as the domain speaks of them and as the log keeps them. Used by every layer.
import type { Actor } from './actor.js';
import type { Environment } from './environment.js';

/** Something that happened, named in the past tense. Carries ids, enums, amounts, times and vault references only. */
export interface DomainEvent<Type extends string = string, Data extends object = object> {
  readonly type: Type;
  readonly data: Data;
}

/** One link of a stream's hash chain (docs/architecture.md#the-hash-chain). */
export interface ChainLink {
  readonly alg: 'sha-256';
  /** Hash of the event before this one, lowercase hex; for revision 0 the hash of the stream id. */
  readonly prev: string;
  readonly hash: string;
}

/** What is recorded about an event beside its data. The `$` names are those the event store indexes. */
export interface EventMetadata {
  readonly schemaVersion: number;
  /** The account the fact belongs to; null only for facts of the installation itself. */
  readonly accountId: string | null;
  readonly environment: Environment | null;
  /** ISO 8601 UTC with milliseconds: when the state changed. */
  readonly occurredAt: string;
  /** The request (or timer run) all of this belongs to. */
  readonly $correlationId: string;
  /** The id of the command or event that led to this event. */
  readonly $causationId: string;
  readonly actor: Actor;
  /** Why an operator did it, in the operator's words. */
  readonly reason?: string;
  readonly chain: ChainLink;
}

/** An event as read back from the log. */
export interface RecordedEvent<Event extends DomainEvent = DomainEvent> {
  readonly id: string;
  readonly stream: string;
  /** Place in its stream, from 0, contiguous. */
  readonly revision: number;
  /** Place in the whole log; opaque, but the positions of one store sort as strings. */
  readonly position: string;
  readonly type: Event['type'];
  readonly data: Event['data'];
  readonly metadata: EventMetadata;
}

/** `category` of `<category>-<id>`; categories contain no dash. */
export function categoryOf(stream: string): string {
  const dash = stream.indexOf('-');
  return dash < 0 ? stream : stream.slice(0, dash);
}

/** `id` of `<category>-<id>`. */
export function idOf(stream: string): string {
  return stream.slice(stream.indexOf('-') + 1);
}
