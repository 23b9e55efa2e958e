// Encrypts a receiver's answer for the log. The answer may contain anything, and events must contain no personal data. Pure.
import { createCipheriv, createDecipheriv } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Uses AES-256-GCM with a nonce of 12 random bytes. `about` binds the excerpt to its attempt. Returns nonce, tag and ciphertext in base64. */
export function sealExcerpt(key: Uint8Array, nonce: Uint8Array, about: string, excerpt: string): string {
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about));
  const text = Buffer.concat([cipher.update(excerpt, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
}

/** Throws unless the excerpt was sealed with the same `about` and key. */
export function openExcerpt(key: Uint8Array, about: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(about));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
}

/** The name of the installation's key in the vault. */
export const EXCERPT_KEY = 'webhook-excerpts';

export function excerptPlace(deliveryId: string, attempt: number): string {
  return `${deliveryId}/${attempt}`;
}
