/**
 * Keeps the place of each event handler, for the one process at a time that runs it. All places may be lost. Handlers then begin at the beginning of
 * the log, which they tolerate. Throws Unavailable when it cannot be reached.
 */
export abstract class HandlerCheckpoints {
  /** Gives the holder the right to run the handler for `ttlMs`. Taking again renews it. False while another holder has it. */
  abstract take(handler: string, holder: string, ttlMs: number): Promise<boolean>;

  /** Saves the handler's place and renews the right. False, and nothing is saved, when the holder has lost the right. */
  abstract save(handler: string, holder: string, place: string, ttlMs: number): Promise<boolean>;

  /** The saved place in the log, exclusive; null: the beginning. */
  abstract passed(handler: string): Promise<string | null>;

  /** Forgets the place, so that the handler begins at the beginning of the log. Changes nothing without the right. */
  abstract forget(handler: string, holder: string): Promise<void>;

  /** Gives up the right if the holder has it. */
  abstract release(handler: string, holder: string): Promise<void>;
}
