import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { developmentSigningKeys } from '../../../src/adapters/token-keys/development-key.js';
import { Es256TokenKeys, InvalidSigningKey } from '../../../src/adapters/token-keys/es256.js';

const ISSUER = 'https://service.example.test';

function aKey(curve = 'P-256') {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: curve });
  return {
    pem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    sec1: privateKey.export({ format: 'pem', type: 'sec1' }).toString(),
    jwk: privateKey.export({ format: 'jwk' }),
  };
}

function headerOf(token: string): { kid: string } {
  return JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString());
}

describe('ES256 token keys', () => {
  const key = aKey();

  it.each([
    ['PKCS8 PEM', key.pem],
    ['SEC1 PEM', key.sec1],
    ['PEM on one line', key.pem.replaceAll('\n', '\\n')],
    ['JWK', JSON.stringify(key.jwk)],
    ['JWKS', JSON.stringify({ keys: [key.jwk] })],
  ])('are read from %s', async (_, text) => {
    const keys = await Es256TokenKeys.from(text, ISSUER);
    const token = await keys.sign({ sub: 'somebody', iss: 'somebody else' });
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet({ keys: [...keys.published()] }), {
      algorithms: ['ES256'],
      issuer: ISSUER,
    });
    expect(payload).toEqual({ sub: 'somebody', iss: ISSUER });
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'JWT', kid: keys.published()[0]!.kid });
  });

  it('are named by their RFC 7638 thumbprint', async () => {
    const { crv, kty, x, y } = key.jwk;
    const thumbprint = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
    expect((await Es256TokenKeys.from(key.pem, ISSUER)).published()).toEqual([
      { kty: 'EC', crv: 'P-256', x, y, kid: thumbprint, alg: 'ES256', use: 'sig' },
    ]);
  });

  it('sign with the first key and verify with all keys, so that a key can be replaced', async () => {
    const other = aKey();
    const before = await (await Es256TokenKeys.from(key.pem, ISSUER)).sign({});
    const keys = await Es256TokenKeys.from(JSON.stringify({ keys: [other.jwk, key.jwk] }), ISSUER);
    const after = await keys.sign({});
    expect(headerOf(after).kid).not.toBe(headerOf(before).kid);
    for (const token of [before, after]) {
      const [header, payload, signature] = token.split('.') as [string, string, string];
      const publicKey = createPublicKey(keys.verificationKey(headerOf(token).kid)!);
      expect(
        verify(
          'sha256',
          Buffer.from(`${header}.${payload}`),
          { key: publicKey, dsaEncoding: 'ieee-p1363' },
          Buffer.from(signature, 'base64url'),
        ),
      ).toBe(true);
    }
    expect(keys.verificationKey('unknown')).toBeNull();
    expect(keys.published()).toHaveLength(2);
  });

  it('never publish a private part', async () => {
    const keys = await Es256TokenKeys.from(JSON.stringify({ keys: [key.jwk, aKey().jwk] }), ISSUER);
    for (const published of keys.published())
      expect(Object.keys(published).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  });

  const { d: _, ...publicJwk } = key.jwk;
  it.each([
    ['no key', 'hello'],
    ['broken JSON', '{"keys":'],
    ['an empty JWKS', '{"keys":[]}'],
    ['a public key', JSON.stringify(publicJwk)],
    ['another curve', aKey('P-384').pem],
    [
      'an RSA key',
      generateKeyPairSync('rsa', { modulusLength: 2048 })
        .privateKey.export({ format: 'pem', type: 'pkcs8' })
        .toString(),
    ],
    ['halves that do not match', JSON.stringify({ ...aKey().jwk, d: key.jwk.d })],
  ])('refuse %s with a sentence that quotes no part of the key', async (_, text) => {
    const refused = await Es256TokenKeys.from(text, ISSUER).then(
      () => null,
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(InvalidSigningKey);
    expect((refused as Error).message).toMatch(/^JWT_SIGNING_KEY .*\.$/);
    expect((refused as Error).message).not.toContain(key.jwk.d!.slice(0, 8));
  });
});

describe('the signing key of a development installation', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keys-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is made once, even by many simultaneous processes, and only its owner can read it', async () => {
    const directory = join(folder, 'data', 'keys');
    const texts = await Promise.all(Array.from({ length: 8 }, () => developmentSigningKeys(directory)));
    expect(new Set(texts).size).toBe(1);
    expect(await developmentSigningKeys(directory)).toBe(texts[0]);
    expect(await readdir(directory)).toEqual(['jwt-signing-keys.json']);
    expect((await stat(join(directory, 'jwt-signing-keys.json'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(directory, 'jwt-signing-keys.json'), 'utf8')).toBe(texts[0]);
    expect((await Es256TokenKeys.from(texts[0]!, ISSUER)).published()).toHaveLength(1);
  });
});
