/**
 * Carries personal data from one process to another once. The job holds the reference, Redis holds the ciphertext for at most `ttlMs`, and only the
 * process that removes it may use the data. The data are encrypted with AES-256-GCM under the data key of the person's vault subject, because Redis'
 * files keep deleted data. With a null `subject` nothing is personal, and a key of the installation is used.
 */
export abstract class SealedPayloads {
  /** Seals under a reference of its own. Throws SubjectErased. */
  abstract seal(reference: string, subject: string | null, payload: Uint8Array, ttlMs: number): Promise<void>;

  /** The payload. Null when its lifetime is over, when it was removed, and when the person was erased. */
  abstract read(reference: string): Promise<Uint8Array | null>;

  /** True for exactly one caller; false when the payload is gone. */
  abstract remove(reference: string): Promise<boolean>;
}
