// Searches the files and the Redis of the service for values that must not be in them.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { type Canaries, findingsOf } from '../../src/vendor-kit/canaries.js';

export { type Canaries, findingsOf };

const PAUSE_MS = 10;

export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Everything that was in Redis during the capture: each key with its content. */
export class RedisCapture {
  private readonly contents = new Map<string, { readonly where: string; readonly content: Buffer }>();

  constructor(private readonly redis: Redis) {}

  /** Reads Redis repeatedly until the work ends, so that a value is seen even if it stays only for a moment. */
  async during(work: () => Promise<void>): Promise<void> {
    let working = true;
    const watching = (async () => {
      // The pause leaves the processor to the work, which may be a browser on the same machine.
      for (; working; await delay(PAUSE_MS)) await this.look();
    })();
    try {
      await work();
    } finally {
      working = false;
      await watching;
    }
    await this.look();
  }

  findings(canaries: Canaries): string[] {
    const all = [...canaries];
    return [...this.contents.values()].flatMap(({ where, content }) => findingsOf(all, where, content));
  }

  private async look(): Promise<void> {
    for (const key of await this.redis.keys('*')) {
      const type = await this.redis.type(key);
      const content = Buffer.from(JSON.stringify(await valueOf(this.redis, key, type)));
      this.add('the name of a key', Buffer.from(key));
      this.add(key.slice(0, 60), content);
    }
  }

  private add(where: string, content: Buffer): void {
    this.contents.set(createHash('sha256').update(where).update(content).digest('base64'), { where, content });
  }
}

async function valueOf(redis: Redis, key: string, type: string): Promise<unknown> {
  switch (type) {
    case 'string': {
      const value = await redis.getBuffer(key);
      return [value?.toString('latin1'), value?.toString('utf8')];
    }
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1');
    case 'stream':
      return redis.xrange(key, '-', '+');
    default:
      return null;
  }
}
