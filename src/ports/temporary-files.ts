/**
 * Stores personal data for minutes under a name that the service chooses. The data are encrypted with AES-256-GCM under the data key of the person's
 * vault subject. The data can be read any number of times until they expire or the person is erased. The data may be lost earlier.
 */
export abstract class TemporaryFiles {
  /** Throws SubjectErased. */
  abstract put(name: string, subject: string, content: Uint8Array, ttlMs: number): Promise<void>;

  /** Null for an unknown name, after the data's time has passed, and when the person was erased. */
  abstract get(name: string): Promise<Uint8Array | null>;
}
