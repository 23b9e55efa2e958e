/** A public key as `/.well-known/jwks.json` shows it (RFC 7517). */
export interface PublicJwk {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  /** RFC 7638 thumbprint. */
  readonly kid: string;
  readonly alg: 'ES256';
  readonly use: 'sig';
}

/**
 * The keys that sign our tokens: ES256 only. The first one signs; all of them verify, so that a key can be replaced
 * without cutting off the tokens it signed. Private keys never leave the adapter.
 */
export abstract class TokenKeys {
  /** `iss` of every token signed here; nothing else is accepted. */
  abstract readonly issuer: string;

  /** A compact JWS of the claims and the issuer, with `alg`, `typ` and the signing key's `kid` in its header. */
  abstract sign(claims: Readonly<Record<string, unknown>>): Promise<string>;

  /** The public key to verify with, as PEM (SPKI); null when no such key is known. */
  abstract verificationKey(kid: string): string | null;

  abstract published(): readonly PublicJwk[];
}
