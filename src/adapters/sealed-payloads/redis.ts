import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { SealedPayloads } from '../../ports/sealed-payloads.js';
import type { Vault } from '../../ports/vault.js';
import { freshBytes } from '../vault/aead.js';
import { Sealing, wholeMs } from './sealing.js';

const REFERENCE = /^[A-Za-z0-9_-]{43}$/;

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
    if (!REFERENCE.test(reference)) return null;
    const stored = await this.redis.getdelBuffer(place(reference));
    return stored === null ? null : this.sealing.open(reference, stored);
  }

  /**
   * As `seal`, under the reference that follows from a name, for an answer that both sides can name beforehand. What lies
   * there already stays.
   */
  async sealAs(name: string, subject: string | null, payload: Uint8Array, ttlMs: number): Promise<void> {
    const reference = namedReference(name);
    await this.redis.set(
      place(reference),
      await this.sealing.seal(subject, reference, payload),
      'PX',
      wholeMs(ttlMs),
      'NX',
    );
  }

  /** Takes what was put there with `sealAs`. */
  takeNamed(name: string): Promise<Uint8Array | null> {
    return this.take(namedReference(name));
  }
}

function place(reference: string): string {
  return `sealed:${reference}`;
}

function namedReference(name: string): string {
  return createHash('sha256').update(`sealed-payload/${name}`).digest('base64url');
}
