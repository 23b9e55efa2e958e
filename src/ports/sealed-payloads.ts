/**
 * Carries personal data from one process to another once: the job holds the reference, Redis holds the ciphertext for
 * `ttlMs` at most, and taking it deletes it. Encrypted with AES-256-GCM under a key that Redis never sees.
 */
export abstract class SealedPayloads {
  /** Returns an unguessable reference. */
  abstract seal(payload: Uint8Array, ttlMs: number): Promise<string>;

  /** The payload, the first time within its lifetime; null otherwise. */
  abstract take(reference: string): Promise<Uint8Array | null>;
}
