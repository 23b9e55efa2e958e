/**
 * Remembers for each event handler how far it has come, for the one process at a time that runs it. May be lost entirely: the handler then begins
 * at the beginning of the log, which must not matter to it. Throws Unavailable when it cannot be reached.
 */
export abstract class HandlerCheckpoints {
  /** Makes the holder the one that runs the handler, for so long. Renewed by taking again; false while another one has it. */
  abstract take(handler: string, holder: string, ttlMs: number): Promise<boolean>;

  /** How far the handler is now. False when the holder has lost it, and then nothing is saved. Renews too. */
  abstract save(handler: string, holder: string, place: string, ttlMs: number): Promise<boolean>;

  /** The saved place in the log, exclusive; null: the beginning. */
  abstract passed(handler: string): Promise<string | null>;

  /** The handler begins at the beginning of the log. Nothing happens unless the holder has it. */
  abstract forget(handler: string, holder: string): Promise<void>;

  /** Lets go of it if it is the holder's. */
  abstract release(handler: string, holder: string): Promise<void>;
}
