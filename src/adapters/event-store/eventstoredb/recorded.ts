// Checks the client's events and returns them in the form of the port.
import type { AllStreamResolvedEvent, Position, ResolvedEvent } from '@eventstore/db-client';
import type { EventMetadata, RecordedEvent } from '../../../kernel/domain-event.js';
import { textOf } from './positions.js';

/** The position that servers before 22.6 send for an event that is read by stream: -1 as an unsigned number. */
const NO_POSITION = BigInt.asUintN(64, BigInt(-1));

/** Streams of the server itself: metadata, statistics, projections. */
export function isSystemStream(stream: string): boolean {
  return stream.startsWith('$');
}

/** Throws if this service cannot have written the event. The error repeats nothing of the event's content. */
export function recordedOf({ event }: ResolvedEvent | AllStreamResolvedEvent): RecordedEvent {
  if (event === undefined) throw new Error('The event store delivered a link without its event.');
  const { id, streamId: stream, type, data, metadata } = event;
  const revision = Number(event.revision);
  const unreadable = (reason: string): Error => new Error(`Event ${id} in stream ${stream} cannot be read: ${reason}.`);
  // Malformed JSON arrives as text, and content without the JSON mark as bytes. The client reports no error in either case.
  if (!event.isJson || !isPlainObject(data)) throw unreadable('its data is not a JSON object');
  if (!isPlainObject(metadata)) throw unreadable('its metadata is not a JSON object');
  if (!Number.isSafeInteger(revision)) throw unreadable('its revision is out of range');
  return {
    id,
    stream,
    revision,
    position: positionIn(event.position),
    type,
    data,
    metadata: metadata as unknown as EventMetadata,
  };
}

export function positionIn(position: Position | undefined): string {
  if (position === undefined || position.commit === NO_POSITION) {
    throw new Error('The event store gave no position; EventStoreDB 22.6 or newer is needed.');
  }
  return textOf(position);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}
