/** A share of a reaction's events that a holder runs. */
export interface HandlerShare {
  /** Counted from 0. */
  readonly share: number;
  /** The saved place in the log, exclusive; null: from the beginning. */
  readonly after: string | null;
}

/**
 * Remembers for each share of a reaction how far it has come, for the one process at a time that runs it. May be lost entirely:
 * the reaction then begins at the beginning of the log, which must not matter to it. Throws Unavailable when it cannot be reached.
 */
export abstract class HandlerCheckpoints {
  /**
   * What the holder runs from now on, of so many shares: those it has and those that nobody has, but no more than are its due among all
   * who asked within the time. Renewed by taking again; none while others have them all. A reaction that is divided into shares later
   * goes on in each where it was.
   */
  abstract take(reaction: string, shares: number, holder: string, ttlMs: number): Promise<readonly HandlerShare[]>;

  /** How far the shares are now. False when the holder has lost one of them, and then nothing is saved. Extends the leases. */
  abstract save(reaction: string, holder: string, places: ReadonlyMap<number, string>, ttlMs: number): Promise<boolean>;

  /** Every share of the reaction has come so far at least; null: one of them is at the beginning. */
  abstract passed(reaction: string, shares: number): Promise<string | null>;

  /** Every share begins at the beginning of the log. Nothing happens while another holder has one of them. */
  abstract forget(reaction: string, shares: number, holder: string): Promise<void>;

  /** Lets go of those that are the holder's. */
  abstract release(reaction: string, shares: number, holder: string): Promise<void>;
}
