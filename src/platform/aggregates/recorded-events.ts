// Converts decided events to recorded events.
import type { ActionContext } from '../../kernel/context.js';
import type { DomainEvent, EventMetadata, RecordedEvent } from '../../kernel/domain-event.js';
import { newId } from '../../kernel/ids.js';
import type { JsonObject } from '../../kernel/json.js';
import type { LoadedAggregate } from '../../kernel/loaded-aggregate.js';
import type { NewEvent } from '../../ports/event-store.js';
import { genesisOf, linkTo } from '../audit/chain.js';

/** The events after the aggregate's newest event, chained to it. The position of these events is empty, because it is not known yet. */
export function recordedEvents<Event extends DomainEvent>(
  stream: string,
  loaded: LoadedAggregate<unknown>,
  decided: readonly Event[],
  { now, ...context }: ActionContext & { readonly now: Date },
): RecordedEvent<Event>[] {
  const occurredAt = now.toISOString();
  let revision = loaded.revision ?? -1;
  let prev = loaded.history.at(-1)?.metadata.chain.hash ?? genesisOf(stream);
  return decided.map((event) => {
    revision += 1;
    const id = newId();
    const metadata: Omit<EventMetadata, 'chain'> = {
      schemaVersion: schemaVersionOf(event.type),
      accountId: context.accountId,
      environment: context.environment,
      occurredAt,
      $correlationId: context.correlationId,
      $causationId: context.causationId,
      actor: context.actor,
      ...(context.reason !== undefined && { reason: context.reason }),
    };
    const chain = linkTo(prev, { id, type: event.type, stream, revision, data: event.data, metadata });
    prev = chain.hash;
    // The store gives the position. Read models that get this event earlier do not use the position.
    return { id, stream, revision, position: '', type: event.type, data: event.data, metadata: { ...metadata, chain } };
  });
}

export function asNewEvent(event: RecordedEvent): NewEvent {
  return {
    id: event.id,
    type: event.type,
    data: event.data as JsonObject,
    metadata: event.metadata as unknown as JsonObject,
  };
}

/** 2 of `Thing.v2`; 1 of `Thing`. */
function schemaVersionOf(type: string): number {
  const suffix = /\.v(\d+)$/.exec(type);
  return suffix ? Number(suffix[1]) : 1;
}
