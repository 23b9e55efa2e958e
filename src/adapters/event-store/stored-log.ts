// Opens the log of the installation: apart from the Nest module, because threads and commands need nothing else of it.
import { join } from 'node:path';
import type { StoredLog } from '../../ports/event-store.js';
import { EmbeddedEventStore, type EmbeddedEventStoreOptions } from './embedded.js';

/** Where the log is; `maxBytes`: what the file of the embedded log may grow to. */
export interface LogPlace {
  readonly place:
    | { readonly kind: 'embedded'; readonly maxBytes: number; readonly uncompressedEvents: number }
    | { readonly kind: 'eventstoredb'; readonly url: string };
}

interface DataFolder {
  readonly path: string;
}

/** Where the embedded log lies. */
export function eventsFolder({ path }: DataFolder): string {
  return join(path, 'events');
}

/** What watches its space is for whoever appends to it. */
export async function openStoredLog(
  { place }: LogPlace,
  folder: DataFolder,
  watch: Pick<EmbeddedEventStoreOptions, 'onNearlyFull' | 'diskFull' | 'onCompressionFailed'> = {},
): Promise<StoredLog> {
  if (place.kind === 'embedded')
    return EmbeddedEventStore.open({
      directory: eventsFolder(folder),
      mapSizeBytes: place.maxBytes,
      uncompressedEvents: place.uncompressedEvents,
      ...watch,
    });
  // Loaded where it is used only: an operator waits for every command's start.
  const { EventStoreDbEventStore } = await import('./eventstoredb.js');
  return EventStoreDbEventStore.connect({ connectionString: place.url });
}
