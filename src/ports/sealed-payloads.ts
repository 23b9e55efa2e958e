/**
 * Passes personal data from one process to another once. The job contains the reference, Redis stores the ciphertext for at most `ttlMs`, and only
 * the process that removes it may use the data. The data are encrypted with AES-256-GCM under the data key of the person's vault subject, because
 * Redis' files keep deleted data. With a null `subject` the data are not personal, and a key of the installation is used.
 */
export abstract class SealedPayloads {
  /** Encrypts the payload under a reference of its own. Throws SubjectErased. */
  abstract seal(reference: string, subject: string | null, payload: Uint8Array, ttlMs: number): Promise<void>;

  /** The payload. Null if its lifetime has passed, when it was removed, and if the person was erased. */
  abstract read(reference: string): Promise<Uint8Array | null>;

  /** True for exactly one caller. False if the payload does not exist any more. */
  abstract remove(reference: string): Promise<boolean>;
}
