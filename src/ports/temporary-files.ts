/**
 * Keeps something personal for minutes under a name that we chose, encrypted with AES-256-GCM under a key that Redis never
 * sees, and readable any number of times until it is gone by itself. May be lost earlier.
 */
export abstract class TemporaryFiles {
  abstract put(name: string, content: Uint8Array, ttlMs: number): Promise<void>;

  /** Null when there never was one or its time is over. */
  abstract get(name: string): Promise<Uint8Array | null>;
}
