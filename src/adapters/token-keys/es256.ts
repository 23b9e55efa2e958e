import { createPrivateKey, createPublicKey, sign, verify, type JsonWebKey, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { TokenKeys, type PublicJwk } from '../../ports/token-keys.js';

interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicPem: string;
  readonly jwk: PublicJwk;
}

/** The configured keys cannot be used. The message gives the reason and quotes no part of the keys. */
export class InvalidSigningKey extends Error {
  override readonly name = 'InvalidSigningKey';
}

/** ES256 with keys in memory. */
export class Es256TokenKeys extends TokenKeys {
  private readonly byKid: ReadonlyMap<string, SigningKey>;

  private constructor(
    override readonly issuer: string,
    private readonly keys: readonly SigningKey[],
    private readonly signing: SigningKey,
  ) {
    super();
    this.byKid = new Map(keys.map((key) => [key.kid, key]));
  }

  /**
   * `text` has P-256 private keys as PEM (one block or several), as a JWK or as a JWKS. The first key signs the tokens. Line breaks of a PEM may be
   * written as ` `, as in environment files. Throws InvalidSigningKey.
   */
  static async from(text: string, issuer: string): Promise<Es256TokenKeys> {
    const keys = await Promise.all(privateKeysIn(text).map(describe));
    const [signing] = keys;
    if (signing === undefined) throw new InvalidSigningKey('JWT_SIGNING_KEY holds no key.');
    return new Es256TokenKeys(issuer, keys, signing);
  }

  override async sign(claims: Readonly<Record<string, unknown>>): Promise<string> {
    const { kid, privateKey } = this.signing;
    const input = `${encoded({ alg: 'ES256', typ: 'JWT', kid })}.${encoded({ ...claims, iss: this.issuer })}`;
    const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${input}.${signature.toString('base64url')}`;
  }

  override verificationKey(kid: string): string | null {
    return this.byKid.get(kid)?.publicPem ?? null;
  }

  override published(): readonly PublicJwk[] {
    return this.keys.map(({ jwk }) => jwk);
  }
}

function privateKeysIn(text: string): KeyObject[] {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{')) {
    const blocks = trimmed
      .replaceAll('\\n', '\n')
      .match(/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g);
    if (blocks === null) throw new InvalidSigningKey('JWT_SIGNING_KEY must be a private key as PEM, JWK or JWKS.');
    return blocks.map((block) => privateKey({ key: block, format: 'pem' }));
  }
  const parsed = parseJson(trimmed);
  const keys = 'keys' in parsed ? parsed.keys : [parsed];
  if (!Array.isArray(keys)) throw new InvalidSigningKey('JWT_SIGNING_KEY is a JWKS without a list of keys.');
  return keys.map((key: unknown) => {
    if (typeof key !== 'object' || key === null || !('d' in key))
      throw new InvalidSigningKey('JWT_SIGNING_KEY must hold private keys.');
    return privateKey({ key: key as JsonWebKey, format: 'jwk' });
  });
}

function parseJson(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    // The parser's own message quotes the text.
    throw new InvalidSigningKey('JWT_SIGNING_KEY is neither PEM nor JSON.');
  }
}

function privateKey(input: Parameters<typeof createPrivateKey>[0]): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(input);
  } catch {
    throw new InvalidSigningKey('JWT_SIGNING_KEY holds a key that is not private or has a passphrase.');
  }
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new InvalidSigningKey(
      'JWT_SIGNING_KEY must hold keys of the curve P-256, because tokens are signed with ES256.',
    );
  }
  return key;
}

async function describe(key: KeyObject): Promise<SigningKey> {
  const publicKey = createPublicKey(key);
  const probe = Buffer.from('probe');
  // A JWK may contain a public part that belongs to another private key.
  if (!verify('sha256', probe, publicKey, sign('sha256', probe, key)))
    throw new InvalidSigningKey('JWT_SIGNING_KEY holds a key whose halves do not match.');
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const kid = await calculateJwkThumbprint({ kty: 'EC', crv: 'P-256', x, y });
  const publicPem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  return { kid, privateKey: key, publicPem, jwk: { kty: 'EC', crv: 'P-256', x, y, kid, alg: 'ES256', use: 'sig' } };
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
