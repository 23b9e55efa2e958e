// The text of keys and grant tokens. The text contains the id, so that the service needs no index from secrets to ids.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Environment } from '../../../kernel/environment.js';
import type { KeyKind } from './access-key.js';

/** Prefixes of keys and of session grants' tokens. */
export type TextKind = KeyKind | 'grant';

const PREFIX = { publishable: 'pk', secret: 'sk', api: 'ak', grant: 'sgt' } as const satisfies Record<TextKind, string>;
const ID_CHARACTERS = 22;
const SECRET_BYTES = 32;

/** The hash with which an unknown key is compared, so that the answer takes as long as for a wrong key. */
const NOTHING = createHash('sha256').update('no such key').digest();
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** `<pk|sk|ak|sgt>_<test|live>_` and the base64url of the id's 16 bytes and of 32 random bytes. The text is shown once and never stored. */
export function writeKey(kind: TextKind, environment: Environment, keyId: string, secret: Uint8Array): string {
  if (secret.byteLength !== SECRET_BYTES) throw new RangeError(`A key needs ${SECRET_BYTES} random bytes`);
  const id = Buffer.from(keyId.replaceAll('-', ''), 'hex');
  return `${PREFIX[kind]}_${environment}_${id.toString('base64url')}${Buffer.from(secret).toString('base64url')}`;
}

/** The id in the key's text. A malformed text gets an id that no key has. */
export function keyIdIn(kind: TextKind, text: string): string {
  const body = new RegExp(`^${PREFIX[kind]}_(?:live|test)_([A-Za-z0-9_-]{16,128})$`).exec(text)?.[1];
  if (body === undefined || body.length < ID_CHARACTERS) return NO_ID;
  const hex = Buffer.from(body.slice(0, ID_CHARACTERS), 'base64url').toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** SHA-256 of the whole text, lowercase hex. This is enough for 256 random bits; a password would need a slow hash. */
export function hashKey(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Whether the hash belongs to this text. The comparison takes constant time. A null hash takes the same time and gives false. */
export function isKey(text: string, keyHash: string | null): boolean {
  const presented = createHash('sha256').update(text).digest();
  const stored = keyHash === null ? NOTHING : Buffer.from(keyHash, 'hex');
  return timingSafeEqual(presented, stored) && keyHash !== null;
}
