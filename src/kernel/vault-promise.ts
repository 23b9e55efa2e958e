import type { RecordedEvent } from './domain-event.js';

/** Where the vault keeps something. */
export interface VaultPlace {
  readonly subject: string;
  readonly entry: string;
}

/**
 * What an event in the log says about the vault: from then on the entry is there, unless its subject was erased. Declared beside the
 * code that puts the entry, and held against the vault by an audit.
 */
export interface VaultPromise {
  readonly category: string;
  readonly type: string;
  /** `first` is the event that the stream began with. Null when this one promises nothing. */
  place(event: RecordedEvent, first: RecordedEvent): VaultPlace | null;
  /** Events of the stream after which the entry may be gone. */
  readonly until: readonly string[];
}
