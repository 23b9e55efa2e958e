import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { SealedPayloads } from '../../ports/sealed-payloads.js';
import { decrypt, encrypt, freshBytes } from '../vault/aead.js';
import { expandKey, type MasterKeys } from '../vault/master-keys.js';

const PURPOSE = 'sealed-payloads';
const REFERENCE = /^[A-Za-z0-9_-]{43}$/;

/**
 * SET PX and GETDEL. Each payload has a key of its own, from the master key and the 256 bits of its reference, so that
 * neither a copy of Redis nor the master key with another reference opens anything.
 *
 * Stored: one byte that counts the characters of the master key's id, the id, nonce, tag, ciphertext.
 */
export class RedisSealedPayloads extends SealedPayloads {
  constructor(
    private readonly redis: Redis,
    private readonly keys: MasterKeys,
  ) {
    super();
  }

  override async seal(payload: Uint8Array, ttlMs: number): Promise<string> {
    const reference = freshBytes(32).toString('base64url');
    await this.redis.set(place(reference), this.sealed(reference, payload), 'PX', wholeMs(ttlMs));
    return reference;
  }

  override async take(reference: string): Promise<Uint8Array | null> {
    if (!REFERENCE.test(reference)) return null;
    const stored = await this.redis.getdelBuffer(place(reference));
    return stored === null ? null : this.open(reference, stored);
  }

  /**
   * As `seal`, under the reference that follows from a name, for an answer that both sides can name beforehand. What lies
   * there already stays. The command is sent before this returns.
   */
  async sealAs(name: string, payload: Uint8Array, ttlMs: number): Promise<void> {
    const reference = namedReference(name);
    await this.redis.set(place(reference), this.sealed(reference, payload), 'PX', wholeMs(ttlMs), 'NX');
  }

  /** Takes what was put there with `sealAs`. */
  takeNamed(name: string): Promise<Uint8Array | null> {
    return this.take(namedReference(name));
  }

  private sealed(reference: string, payload: Uint8Array): Buffer {
    const keyId = this.keys.currentId;
    return Buffer.concat([Buffer.of(keyId.length), Buffer.from(keyId), encrypt(this.keyFor(reference, keyId), reference, payload)]);
  }

  private open(reference: string, stored: Buffer): Uint8Array {
    const idEnd = 1 + (stored[0] ?? 0);
    return decrypt(this.keyFor(reference, stored.toString('utf8', 1, idEnd)), reference, stored.subarray(idEnd));
  }

  private keyFor(reference: string, keyId: string): Buffer {
    return expandKey(this.keys.derive(PURPOSE, keyId), reference);
  }
}

function place(reference: string): string {
  return `sealed:${reference}`;
}

function namedReference(name: string): string {
  return createHash('sha256').update(`sealed-payload/${name}`).digest('base64url');
}

/** Redis takes whole milliseconds, at least one. */
function wholeMs(ms: number): number {
  return Math.max(1, Math.floor(ms));
}
