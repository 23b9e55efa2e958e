import type { RecordedEvent } from './domain-event.js';

/** The address of an entry in the vault. */
export interface VaultPlace {
  readonly subject: string;
  readonly entry: string;
}

/**
 * The promise of an event about the vault: from then on the entry exists, unless its subject was erased. The code that stores the entry declares the
 * promise, and an audit compares it with the vault.
 */
export interface VaultPromise {
  readonly category: string;
  readonly type: string;
  /** `first` is the first event of the stream. Null if this event makes no promise. */
  place(event: RecordedEvent, first: RecordedEvent): VaultPlace | null;
  /** Events of the stream after which the entry may be missing. */
  readonly until: readonly string[];
}
