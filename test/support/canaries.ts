// Searches everything that the service writes for values that must not be in it, in plain text and in the usual
// encodings.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';

const PAUSE_MS = 10;

/** The values to search for. Each has a name for the report. */
export type Canaries = Iterable<readonly [name: string, canary: string]>;

/** The encodings are cached, because the search looks for each value in thousands of places. */
const DISGUISES = new Map<string, Buffer[]>();

/**
 * The canary as plain text and in hidden forms: base64 at each alignment, base64url, hex, URL-encoded, and in the other
 * letter case.
 */
function disguises(canary: string): Buffer[] {
  const known = DISGUISES.get(canary);
  if (known !== undefined) return known;
  const made = disguisesOf(canary);
  DISGUISES.set(canary, made);
  return made;
}

function disguisesOf(canary: string): Buffer[] {
  const bytes = Buffer.from(canary);
  const aligned = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // The first and last characters depend on the bytes next to the canary.
    return text.slice(offset === 0 ? 0 : offset + 1, text.length - 4);
  });
  const texts = [
    canary,
    canary.toLowerCase(),
    canary.toUpperCase(),
    encodeURIComponent(canary),
    bytes.toString('hex'),
    ...aligned,
    ...aligned.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ];
  // A shorter text could occur by chance in an id or a hash.
  return [...new Set(texts)]
    .filter((text) => text.length >= 8)
    .flatMap((text) => [Buffer.from(text), Buffer.from(text, 'utf16le')]);
}

export function findingsOf(canaries: Canaries, where: string, content: Buffer): string[] {
  return [...canaries].flatMap(([name, canary]) =>
    disguises(canary).some((disguise) => isIn(content, disguise)) ? [`${name} in ${where}`] : [],
  );
}

/** Eight digits can match by chance within the hex digits of a hash or an id. Such a match does not count. */
function isIn(content: Buffer, disguise: Buffer): boolean {
  if (!/^\d{8}$/.test(disguise.toString('latin1'))) return content.includes(disguise);
  for (let at = content.indexOf(disguise); at >= 0; at = content.indexOf(disguise, at + 1)) {
    if (!/^[0-9a-f]{10}$/.test(content.toString('latin1', at - 1, at + 9))) return true;
  }
  return false;
}

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
