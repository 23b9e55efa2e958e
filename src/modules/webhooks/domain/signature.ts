// The signature of a delivery (docs/contract/webhooks.md#signature; compatible with Standard Webhooks). Pure.
import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** The text that shows a secret of 32 random bytes, once. */
export function secretText(secret: Uint8Array): string {
  return PREFIX + Buffer.from(secret).toString('base64');
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
