import { createHmac, hash, randomBytes, randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';
import { machineNow } from './machine-time.js';

/** Random bytes are drawn in large blocks, because a system call for sixteen bytes is the largest cost of an id. */
const pool = Buffer.alloc(16 * 256);
let used = pool.length;
let lastMs = 0;
let sequence = 0;

/** A new UUID, version 7. The time order puts ids of similar times near each other in an index. Within one process the ids strictly increase. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += 16;
  const now = machineNow();
  if (now > lastMs) {
    lastMs = now;
    // The sequence starts at a random number that leaves enough numbers to count up.
    sequence = pool.readUInt32BE(used - 8) >>> 1;
  } else {
    sequence += 1;
  }
  return v7({ random: pool.subarray(used - 16, used), msecs: lastMs, seq: sequence });
}

/** The base64 of 32 random bytes. */
export function newSalt(): string {
  return randomBytes(32).toString('base64');
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isId(text: string): boolean {
  return UUID.test(text);
}

/** Returns the same UUID (version 8, RFC 9562 section 5.8) for the same parts, so that a repeated action names the same object. */
export function derivedId(...parts: readonly string[]): string {
  return asUuid(hash('sha256', JSON.stringify(parts), 'buffer'));
}

/** Like `derivedId`, but a reader without the key cannot find the parts by guessing. */
export function keyedId(key: Uint8Array, ...parts: readonly string[]): string {
  return asUuid(keyedDigest(key, parts));
}

/** Like `keyedId`, but a version 7 id of the time `at` (milliseconds since 1970). The key and parts replace its random bits. */
export function keyedIdAt(at: number, key: Uint8Array, ...parts: readonly string[]): string {
  const time = Buffer.alloc(6);
  time.writeUIntBE(at, 0, 6);
  return asUuid(keyedDigest(key, [at, ...parts]), 7, time);
}

/** Like `derivedId`, but with the time of `id`, a version 7 id. Ids derived from events sort in the order of the events. */
export function derivedIdLike(id: string, ...parts: readonly string[]): string {
  const time = Buffer.from(id.replaceAll('-', '').slice(0, 12), 'hex');
  return asUuid(hash('sha256', JSON.stringify([id, ...parts]), 'buffer'), 8, time);
}

function keyedDigest(key: Uint8Array, parts: readonly unknown[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest();
}

function asUuid(digest: Buffer, version: 7 | 8 = 8, time: Buffer | null = null): string {
  const bytes = Buffer.from(digest.subarray(0, 16));
  time?.copy(bytes);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
