import type { RecordedEvent } from './domain-event.js';

/** The place of an entry in the vault. */
export interface VaultPlace {
  readonly subject: string;
  readonly entry: string;
}

/**
 * The promise that an event makes about the vault: from then on the entry is there, unless its subject was erased. The code that puts the entry
 * declares it, and an audit compares it with the vault.
 */
export interface VaultPromise {
  readonly category: string;
  readonly type: string;
  /** `first` is the first event of the stream. Null when this event promises nothing. */
  place(event: RecordedEvent, first: RecordedEvent): VaultPlace | null;
  /** Events of the stream after which the entry may be gone. */
  readonly until: readonly string[];
}
