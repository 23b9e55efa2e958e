import type { Redis } from 'ioredis';
import { SealedPayloads } from '../../ports/sealed-payloads.js';
import type { Vault } from '../../ports/vault.js';
import { isErased } from '../../ports/vault-entry.js';
import { freshBytes } from '../vault/aead.js';
import { Sealing, wholeMs } from './sealing.js';

const REFERENCE = /^[A-Za-z0-9_-]{43}$/;

/** SET PX and GETDEL. What Redis holds opens with the vault and the reference only. */
export class RedisSealedPayloads extends SealedPayloads {
  private readonly sealing: Sealing;

  constructor(
    private readonly redis: Redis,
    private readonly vault: Vault,
  ) {
    super();
    this.sealing = new Sealing(vault, 'sealed-payloads');
  }

  override async seal(subject: string | null, payload: Uint8Array, ttlMs: number): Promise<string> {
    const reference = freshBytes(32).toString('base64url');
    await this.redis.set(place(reference), await this.sealing.seal(subject, reference, payload), 'PX', wholeMs(ttlMs));
    return reference;
  }

  override isErased(subject: string): Promise<boolean> {
    return isErased(this.vault, subject);
  }

  override async take(reference: string): Promise<Uint8Array | null> {
    if (!REFERENCE.test(reference)) return null;
    const stored = await this.redis.getdelBuffer(place(reference));
    return stored === null ? null : this.sealing.open(reference, stored);
  }
}

function place(reference: string): string {
  return `sealed:${reference}`;
}
