/**
 * Carries personal data from one process to another once: the job holds the reference, Redis holds the ciphertext for
 * `ttlMs` at most, and the process that removes it may use it. Encrypted with AES-256-GCM under the data key of the person's vault subject, because
 * Redis' files keep what was deleted; under a key of the installation where `subject` is null, as nothing personal is carried.
 */
export abstract class SealedPayloads {
  /** Under a reference of its own. Throws SubjectErased. */
  abstract seal(reference: string, subject: string | null, payload: Uint8Array, ttlMs: number): Promise<void>;

  /** The payload within its lifetime, until it is removed; null otherwise, and after the person was erased. */
  abstract read(reference: string): Promise<Uint8Array | null>;

  /** True to one of all who remove it; false where there is nothing any more. */
  abstract remove(reference: string): Promise<boolean>;
}
