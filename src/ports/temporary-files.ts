/**
 * Keeps personal data for minutes under a name of the service's choice. It is encrypted with AES-256-GCM under the data key of the person's vault
 * subject. It can be read any number of times until it expires or the person is erased. It may be lost earlier.
 */
export abstract class TemporaryFiles {
  /** Throws SubjectErased. */
  abstract put(name: string, subject: string, content: Uint8Array, ttlMs: number): Promise<void>;

  /** Null for an unknown name, after its time, and after the person was erased. */
  abstract get(name: string): Promise<Uint8Array | null>;
}
