import type { Redis } from 'ioredis';
import { SealedPayloads } from '../../ports/sealed-payloads.js';
import type { Vault } from '../../ports/vault.js';
import { freshBytes } from '../vault/aead.js';
import { Sealing, wholeMs } from './sealing.js';

/** SET PX and GETDEL. What Redis holds opens with the vault and the reference only. */
export class RedisSealedPayloads extends SealedPayloads {
  private readonly sealing: Sealing;

  constructor(
    private readonly redis: Redis,
    vault: Vault,
  ) {
    super();
    this.sealing = new Sealing(vault, 'sealed-payloads');
  }

  override async seal(subject: string | null, payload: Uint8Array, ttlMs: number): Promise<string> {
    const reference = freshBytes(32).toString('base64url');
    await this.redis.set(place(reference), await this.sealing.seal(subject, reference, payload), 'PX', wholeMs(ttlMs));
    return reference;
  }

  override async take(reference: string): Promise<Uint8Array | null> {
    const stored = await this.redis.getdelBuffer(place(reference));
    return stored === null ? null : this.sealing.open(reference, stored);
  }
}

function place(reference: string): string {
  return `sealed:${reference}`;
}
