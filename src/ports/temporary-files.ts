/**
 * Keeps something personal for minutes under a name that we chose, encrypted with AES-256-GCM under the data key of the person's
 * vault subject, and readable any number of times until it is gone by itself, or with the person. May be lost earlier.
 */
export abstract class TemporaryFiles {
  /** Throws SubjectErased. */
  abstract put(name: string, subject: string, content: Uint8Array, ttlMs: number): Promise<void>;

  /** Null when there never was one, its time is over, or the person was erased. */
  abstract get(name: string): Promise<Uint8Array | null>;
}
