import { EventLogDamaged, type EventStore } from '../../../ports/event-store.js';
import { isComparable, type FeedEvent } from '../domain/feed.js';

/** The place of the stored event behind an entry of a feed, comparable with `position`. In a copy of the log it has another position than before. */
export async function positionOfSource(
  entry: FeedEvent['data'],
  position: string,
  store: Pick<EventStore, 'readStream'>,
): Promise<string> {
  if (isComparable(entry, position)) return entry.sourcePosition;
  const { sourceStream, sourceRevision } = entry;
  const [source] = await store.readStream(sourceStream, { from: sourceRevision, limit: 1 });
  if (source === undefined) throw new EventLogDamaged(`${sourceStream} lacks its revision ${sourceRevision}`);
  return source.position;
}
