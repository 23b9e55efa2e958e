// How bytes are sealed that Redis holds for a while, under a reference that decides over their key.
import { decrypt, encrypt } from '../vault/aead.js';
import { expandKey, type MasterKeys } from '../vault/master-keys.js';

/**
 * Each reference has a key of its own, from the master key and the reference, so that neither a copy of Redis nor the master key
 * with another reference opens anything. A purpose opens nothing of another one.
 *
 * Sealed: one byte that counts the characters of the master key's id, the id, nonce, tag, ciphertext.
 */
export class Sealing {
  constructor(
    private readonly keys: MasterKeys,
    private readonly purpose: string,
  ) {}

  seal(reference: string, content: Uint8Array): Buffer {
    const keyId = this.keys.currentId;
    return Buffer.concat([Buffer.of(keyId.length), Buffer.from(keyId), encrypt(this.keyFor(reference, keyId), reference, content)]);
  }

  /** Throws NotAuthentic. */
  open(reference: string, sealed: Buffer): Buffer {
    const idEnd = 1 + (sealed[0] ?? 0);
    return decrypt(this.keyFor(reference, sealed.toString('utf8', 1, idEnd)), reference, sealed.subarray(idEnd));
  }

  private keyFor(reference: string, keyId: string): Buffer {
    return expandKey(this.keys.derive(this.purpose, keyId), reference);
  }
}

/** Redis takes whole milliseconds, at least one. */
export function wholeMs(ms: number): number {
  return Math.max(1, Math.floor(ms));
}
