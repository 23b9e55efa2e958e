/** How far a reaction has come, and who runs it. */
export interface HandlerLease {
  /** The saved place in the log, exclusive; null: from the beginning. */
  readonly after: string | null;
}

/**
 * Remembers for each reaction how far it has come, for the one process at a time that runs it. May be lost entirely: the
 * reaction then begins at the beginning of the log, which must not matter to it. Throws Unavailable when it cannot be reached.
 */
export abstract class HandlerCheckpoints {
  /** Null while another process holds it. The same holder renews it by taking it again. */
  abstract take(reaction: string, holder: string, ttlMs: number): Promise<HandlerLease | null>;

  /** False when the holder has lost it, and then nothing is saved. Extends the lease. */
  abstract save(reaction: string, holder: string, through: string, ttlMs: number): Promise<boolean>;

  /** It begins at the beginning of the log. Nothing happens when the reaction is another holder's. */
  abstract forget(reaction: string, holder: string): Promise<void>;

  /** Lets go of it, if it is the holder's. */
  abstract release(reaction: string, holder: string): Promise<void>;
}
