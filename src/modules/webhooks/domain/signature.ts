// The signatures of a delivery (docs/contract/webhooks.md#signature; compatible with Standard Webhooks). Pure.
import { createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';

const PREFIX = 'whsec_';
const PUBLIC_PREFIX = 'whpk_';
/** The bytes before a private key of Ed25519 in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The text that shows a secret of 32 random bytes, once. */
export function secretText(secret: Uint8Array): string {
  return PREFIX + Buffer.from(secret).toString('base64');
}

/** The text that shows a public key, which is given in base64. */
export function publicKeyText(publicKey: string): string {
  return PUBLIC_PREFIX + publicKey;
}

/** The public key, in base64, of the private key, which is any 32 random bytes. */
export function publicKeyOf(privateKey: Uint8Array): string {
  const { x = '' } = createPublicKey(keyOf(privateKey)).export({ format: 'jwk' });
  return Buffer.from(x, 'base64url').toString('base64');
}

/** The header's value: an entry for each secret, the current secret first. `timestamp` is in Unix seconds. */
export function signatureOf(
  secrets: readonly Uint8Array[],
  eventId: string,
  timestamp: number,
  body: Uint8Array,
): string {
  return secrets
    .map(
      (secret) => `v1,${createHmac('sha256', secret).update(`${eventId}.${timestamp}.`).update(body).digest('base64')}`,
    )
    .join(' ');
}

/** The same with an entry for each private key (Ed25519). */
export function keySignatureOf(
  privateKeys: readonly Uint8Array[],
  eventId: string,
  timestamp: number,
  body: Uint8Array,
): string {
  const signed = Buffer.concat([Buffer.from(`${eventId}.${timestamp}.`), body]);
  return privateKeys.map((one) => `v1a,${sign(null, signed, keyOf(one)).toString('base64')}`).join(' ');
}

function keyOf(privateKey: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8, privateKey]), format: 'der', type: 'pkcs8' });
}
