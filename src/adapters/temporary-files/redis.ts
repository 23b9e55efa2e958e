import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { TemporaryFiles } from '../../ports/temporary-files.js';
import type { Vault } from '../../ports/vault.js';
import { BoundedRedis } from '../redis/bounded-redis.js';
import { Sealing, wholeMs } from '../sealed-payloads/sealing.js';

/** The longest single exchange with Redis, including the wait for a connection. */
const LIMIT_MS = 2_000;

/** Uses SET PX and GET. Redis gets a hash of the name. Only the vault and that name decrypt the value. Throws Unavailable if Redis fails. */
export class RedisTemporaryFiles extends TemporaryFiles {
  private readonly connection: BoundedRedis;
  private readonly sealing: Sealing;

  constructor(redis: Redis, vault: Vault, limitMs: number = LIMIT_MS) {
    super();
    this.connection = new BoundedRedis(redis, limitMs);
    this.sealing = new Sealing(vault, 'temporary-files');
  }

  override async put(name: string, subject: string, content: Uint8Array, ttlMs: number): Promise<void> {
    const reference = referenceOf(name);
    const sealed = await this.sealing.seal(subject, reference, content);
    await this.connection.use((redis) => redis.set(place(reference), sealed, 'PX', wholeMs(ttlMs)));
  }

  override async get(name: string): Promise<Uint8Array | null> {
    const reference = referenceOf(name);
    const sealed = await this.connection.use((redis) => redis.getBuffer(place(reference)));
    return sealed === null ? null : this.sealing.open(reference, sealed);
  }
}

function referenceOf(name: string): string {
  return createHash('sha256').update(`temporary-file/${name}`).digest('base64url');
}

function place(reference: string): string {
  return `temporary-file:${reference}`;
}
