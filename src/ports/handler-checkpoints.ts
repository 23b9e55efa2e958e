/**
 * Stores the checkpoint of each event handler, for the one process that runs the handler. All checkpoints may be lost. Handlers then begin at the
 * beginning of the log, which they tolerate. Throws Unavailable when the store cannot be reached.
 */
export abstract class HandlerCheckpoints {
  /** Gives the holder the right to run the handler for `ttlMs`. A repeated call renews the right. False while another holder has the right. */
  abstract take(handler: string, holder: string, ttlMs: number): Promise<boolean>;

  /** Saves the handler's checkpoint and renews the right. Returns false and saves nothing when the holder has lost the right. */
  abstract save(handler: string, holder: string, place: string, ttlMs: number): Promise<boolean>;

  /** The saved position in the log, exclusive. Null means the beginning. */
  abstract passed(handler: string): Promise<string | null>;

  /** Forgets the checkpoint, so that the handler begins at the beginning of the log. Changes nothing if the holder does not have the right. */
  abstract forget(handler: string, holder: string): Promise<void>;

  /** Ends the right of the holder. Changes nothing when the holder does not have the right. */
  abstract release(handler: string, holder: string): Promise<void>;
}
