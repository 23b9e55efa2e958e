// The addresses to which a checkout page may return the renter (docs/contract/direct.md#checkout).
import type { Environment } from '../../../../kernel/environment.js';
import { urlIn } from '../../../../kernel/url.js';

export const MAX_REDIRECT = 2_048;
/** The processor replaces this placeholder with the session's id. */
const PLACEHOLDER = '{CHECKOUT_SESSION_ID}';
/** An http or https address with the characters of RFC 3986. */
const URI = /^https?:\/\/[\w\-.~:[\]@!$&'()*+,;=%]+(?:[/?#](?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[\da-f]{2})*)?$/i;

/** The rule that an address breaks; null for a valid address. Live renters are sent only to https addresses. */
export function faultOfRedirect(address: string, environment: Environment): string | null {
  if (address.length > MAX_REDIRECT) return `must have at most ${MAX_REDIRECT} characters`;
  const plain = address.replaceAll(PLACEHOLDER, 'x');
  const host = hostIn(address);
  // The placeholder must not be part of the host name.
  if (!URI.test(plain) || urlIn(plain) === null || host !== hostIn(plain)) return 'must be an absolute https address';
  if (host.includes('@')) return 'must not hold credentials';
  return environment === 'test' || /^https:/i.test(plain) ? null : 'must begin with https';
}

function hostIn(address: string): string {
  return address.split(/[/?#]/, 3)[2] ?? '';
}
