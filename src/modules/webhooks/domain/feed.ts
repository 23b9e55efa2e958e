// The feed: the published events of one account and environment, in the order of the log. Its stream has one event for each.
// Source: docs/contract/server.md#the-event-feed.
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../kernel/canonical-json.js';
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent, RecordedEvent } from '../../../kernel/domain-event.js';
import type { Environment } from '../../../kernel/environment.js';

/** The stored event behind a published one. `sourcePosition` is its place in the log in which the feed was written. */
interface Source {
  readonly sourcePosition: string;
  /** They find the stored event in a copy of the log, where it has another position. */
  readonly sourceStream: string;
  readonly sourceRevision: number;
}

/** The metadata name the account and environment. The causation is the id of the stored event. */
export type FeedEvent = DomainEvent<
  'EventPublished',
  Source & {
    /** `evt_...` */
    readonly eventId: string;
    readonly type: string;
    readonly schemaVersion: 1;
    /** ISO 8601 UTC. */
    readonly occurredAt: string;
    readonly data: object;
    /** SHA-256 over the digest before (32 bytes) and the body, lowercase hex. */
    readonly digest: string;
    /** A release without feeds has handled the event, so it makes no delivery by itself. */
    readonly past?: true;
  }
>;

/** A published event as receivers get it. */
export interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly schema_version: 1;
  readonly occurred_at: string;
  readonly environment: Environment;
  readonly account_id: string;
  readonly data: object;
}

/** An event's place in its feed. The first event has the sequence 1. */
export interface FeedEntry {
  readonly sequence: number;
  readonly digest: string;
  readonly event: Envelope;
}

/** The digest before the first event. */
export const NO_DIGEST = '0'.repeat(64);

/** The bytes that are delivered, as text: RFC 8785. */
export function bodyOf(event: Envelope): string {
  return canonicalJson(event);
}

export function digestAfter(digest: string, body: string): string {
  return createHash('sha256').update(digest, 'hex').update(body).digest('hex');
}

export interface PublishCommand {
  readonly event: Envelope;
  readonly source: Source;
  /** The place up to which a release without feeds has handled the events; null: none did. */
  readonly handledBefore: string | null;
  /** The place of the published event before this one; null: the feed is known to have it. The feed refuses an event until it has the one before. */
  readonly after: string | null;
}

/** The stream is `feed-<account>-<environment>`. Its state is its newest event. */
export const feed: Decider<FeedEvent['data'] | null, PublishCommand, FeedEvent> = {
  category: 'feed',
  initial: null,
  newestOnly: true,

  /** An event that the feed has passed is not published again. After a copy of the log, `hasPassed` must be asked before. */
  decide({ event, source, handledBefore, after }, head) {
    const has = (position: string): boolean =>
      head !== null && isComparable(head, position) && position <= head.sourcePosition;
    if (has(source.sourcePosition)) return [];
    if (after !== null && !has(after)) throw new Error(`The feed lacks the event of ${after}`);
    const { id, type, schema_version, occurred_at, data } = event;
    const digest = digestAfter(head?.digest ?? NO_DIGEST, bodyOf(event));
    const entry = { eventId: id, type, schemaVersion: schema_version, occurredAt: occurred_at, data, digest };
    const past = handledBefore !== null && source.sourcePosition <= handledBefore && (head === null || head.past);
    return [{ type: 'EventPublished', data: { ...entry, ...source, ...(past && { past }) } }];
  },

  evolve(before, event) {
    switch (event.type) {
      case 'EventPublished':
        return event.data;
      default:
        return assertNever(event as never, before);
    }
  },
};

/** False in a copy of the log, because positions of two stores differ in length. */
export function isComparable({ sourcePosition }: Source, position: string): boolean {
  return sourcePosition.length === position.length;
}

export function feedIdOf(accountId: string, environment: Environment): string {
  return `${accountId}-${environment}`;
}

export function feedStream(accountId: string, environment: Environment): string {
  return `${feed.category}-${feedIdOf(accountId, environment)}`;
}

export function entryOf({ revision, data, metadata: { accountId, environment } }: RecordedEvent<FeedEvent>): FeedEntry {
  if (accountId === null || environment === null) throw new Error('A feed belongs to an account and an environment');
  return {
    sequence: revision + 1,
    digest: data.digest,
    event: {
      id: data.eventId,
      type: data.type,
      schema_version: data.schemaVersion,
      occurred_at: data.occurredAt,
      environment,
      account_id: accountId,
      data: data.data,
    },
  };
}
