// Converts decided events to recorded events.
import type { Clock } from '../../kernel/clock.js';
import type { ActionContext } from '../../kernel/context.js';
import type { DomainEvent, EventMetadata, RecordedEvent } from '../../kernel/domain-event.js';
import { newId } from '../../kernel/ids.js';
import type { JsonObject } from '../../kernel/json.js';
import type { LoadedAggregate } from '../../kernel/loaded-aggregate.js';
import type { NewEvent } from '../../ports/event-store.js';
import { genesisOf, linkTo } from '../audit/chain.js';

/** The times of a change, as its events name them. */
export type Moment = Pick<EventMetadata, 'occurredAt' | 'recordedAt'>;

export async function momentOf(clock: Clock, context: ActionContext): Promise<Moment> {
  const now = context.at ?? (await clock.of(context));
  const machine = clock.now();
  return { occurredAt: now.toISOString(), ...(now > machine && { recordedAt: machine.toISOString() }) };
}

/** The events after the aggregate's newest event, chained to it. The position of these events is empty, because it is not known yet. */
export function recordedEvents<Event extends DomainEvent>(
  stream: string,
  loaded: LoadedAggregate<unknown>,
  decided: readonly Event[],
  { moment, ...context }: ActionContext & { readonly moment: Moment },
): RecordedEvent<Event>[] {
  let revision = loaded.revision ?? -1;
  let prev = loaded.history.at(-1)?.metadata.chain.hash ?? genesisOf(stream);
  return decided.map((event) => {
    revision += 1;
    const id = newId();
    const metadata: Omit<EventMetadata, 'chain'> = {
      schemaVersion: schemaVersionOf(event.type),
      accountId: context.accountId,
      environment: context.environment,
      ...moment,
      $correlationId: context.correlationId,
      $causationId: context.causationId,
      actor: context.actor,
      ...(context.askedBy !== undefined && { askedBy: context.askedBy }),
      ...(context.answered?.answer !== undefined && { vendorCall: context.answered.answer }),
      ...(context.reason !== undefined && { reason: context.reason }),
      ...(context.ticket !== undefined && { ticket: context.ticket }),
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
