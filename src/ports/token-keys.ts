/** A public key in `/.well-known/jwks.json` (RFC 7517). */
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
 * The keys that sign the service's tokens: ES256 only. The first key signs, and all keys verify, so the tokens of a replaced key stay valid. Private
 * keys never leave the adapter.
 */
export abstract class TokenKeys {
  /** The `iss` of every token that these keys sign. No other issuer is accepted. */
  abstract readonly issuer: string;

  /** A compact JWS of the claims and the issuer, with `alg`, `typ` and the signing key's `kid` in its header. */
  abstract sign(claims: Readonly<Record<string, unknown>>): Promise<string>;

  /** The public key with which tokens are verified, as PEM (SPKI); null for an unknown `kid`. */
  abstract verificationKey(kid: string): string | null;

  abstract published(): readonly PublicJwk[];
}
