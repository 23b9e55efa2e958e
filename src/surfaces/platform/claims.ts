// The claims of an exchange token. The authenticator of the platform API reads the claims, and so does the exchange when it renews a token.
import type { Claims } from '../../platform/http/bearer-strategy.js';
import type { Principal } from '../../platform/http/principal.js';

/** The token's holder, and the origin of the page that received the token. Null for claims that the exchange did not issue. */
export function platformToken({
  sub,
  account_id: accountId,
  env: environment,
  origin,
  grant,
  jti,
  lineage = jti,
  iat,
  auth_time: exchangedAt = iat,
}: Claims): { readonly principal: Principal; readonly origin: string } | null {
  if (typeof sub !== 'string' || typeof accountId !== 'string' || typeof origin !== 'string') return null;
  if (environment !== 'live' && environment !== 'test') return null;
  const principal = {
    actor: { kind: 'platform-token', id: sub },
    accountId,
    environment,
    origin,
    ...(typeof jti === 'string' && { tokenId: jti }),
    ...(typeof lineage === 'string' && { lineage }),
    ...(typeof exchangedAt === 'number' && { exchangedAt }),
    ...(typeof grant === 'string' && { grantId: grant }),
  } as const;
  return { principal, origin };
}
