// Digests that only a holder of their salt can check or guess.
import { createHmac, randomBytes } from 'node:crypto';

const SALT_BYTES = 32;
const SALT_ID_BYTES = 9;

/** A new salt, and the digest of the value with it: `<salt's id>.<HMAC-SHA-256 in base64url>`. */
export function newSaltedDigest(value: Uint8Array | string): { readonly salt: Uint8Array; readonly digest: string } {
  const salt = randomBytes(SALT_BYTES);
  return { salt, digest: `${randomBytes(SALT_ID_BYTES).toString('base64url')}.${hmac(salt, value)}` };
}

/** The digest of another value with the salt of `digest`. */
export function digestWith(salt: Uint8Array, digest: string, value: Uint8Array | string): string {
  return `${saltIdOf(digest)}.${hmac(salt, value)}`;
}

export function saltIdOf(digest: string): string {
  return digest.slice(0, digest.indexOf('.'));
}

function hmac(salt: Uint8Array, value: Uint8Array | string): string {
  return createHmac('sha256', salt).update(value).digest('base64url');
}
