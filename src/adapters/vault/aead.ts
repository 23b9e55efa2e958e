// AES-256-GCM for the adapters that keep secrets: nonce, tag and ciphertext in one piece.
import { createCipheriv, createDecipheriv, randomFillSync } from 'node:crypto';
import { NotAuthentic } from '../../ports/vault.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `context` is authenticated but not stored, so opening needs the same context. The nonce is random, so a key must not seal more than 2^32 times. */
export function encrypt(key: Uint8Array, context: string, plaintext: Uint8Array): Buffer {
  const nonce = freshBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(context));
  const body = cipher.update(plaintext);
  cipher.final();
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

const pool = Buffer.alloc(4_096);
let unused = 0;

/** Random bytes, which are drawn from the system by the thousand. A system call for a few bytes costs more than encrypting with them. */
export function freshBytes(count: number): Buffer {
  if (unused < count) {
    randomFillSync(pool);
    unused = pool.length;
  }
  unused -= count;
  return Buffer.from(pool.subarray(unused, unused + count));
}

export function decrypt(key: Uint8Array, context: string, sealed: Uint8Array): Buffer {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new NotAuthentic('The sealed value is cut short.');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const body = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
  try {
    decipher.final();
  } catch {
    throw new NotAuthentic('The sealed value is not authentic here.');
  }
  return body;
}
