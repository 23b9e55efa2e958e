import type { Redis } from 'ioredis';
import { SealedPayloads } from '../../ports/sealed-payloads.js';
import type { Vault } from '../../ports/vault.js';
import { Sealing, wholeMs } from './sealing.js';

/** The store uses the Redis commands SET PX, GET and DEL. Only the vault together with the reference can decrypt the values in Redis. */
export class RedisSealedPayloads extends SealedPayloads {
  private readonly sealing: Sealing;

  constructor(
    private readonly redis: Redis,
    vault: Vault,
  ) {
    super();
    this.sealing = new Sealing(vault, 'sealed-payloads');
  }

  override async seal(reference: string, subject: string | null, payload: Uint8Array, ttlMs: number): Promise<void> {
    await this.redis.set(place(reference), await this.sealing.seal(subject, reference, payload), 'PX', wholeMs(ttlMs));
  }

  override async read(reference: string): Promise<Uint8Array | null> {
    const stored = await this.redis.getBuffer(place(reference));
    return stored === null ? null : this.sealing.open(reference, stored);
  }

  override async remove(reference: string): Promise<boolean> {
    return (await this.redis.del(place(reference))) === 1;
  }
}

function place(reference: string): string {
  return `sealed:${reference}`;
}
