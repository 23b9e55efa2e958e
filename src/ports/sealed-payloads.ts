/**
 * Carries personal data from one process to another once: the job holds the reference, Redis holds the ciphertext for
 * `ttlMs` at most, and taking it deletes it. Encrypted with AES-256-GCM under the data key of the person's vault subject, because
 * Redis' files keep what was deleted; under a key of the installation where `subject` is null, as nothing personal is carried.
 */
export abstract class SealedPayloads {
  /** Returns an unguessable reference. Throws SubjectErased. */
  abstract seal(subject: string | null, payload: Uint8Array, ttlMs: number): Promise<string>;

  /** The payload, the first time within its lifetime; null otherwise, and after the person was erased. */
  abstract take(reference: string): Promise<Uint8Array | null>;
}
