import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Es256TokenKeys } from '../../../src/adapters/token-keys/es256.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { BearerStrategy, BearerTokens, type Claims } from '../../../src/platform/http/bearer-strategy.js';
import type { Principal } from '../../../src/platform/http/principal.js';
import { TokenKeys, type PublicJwk } from '../../../src/ports/token-keys.js';
import { SetClock } from '../../support/clock.js';

/** Counts the requests for a key. Each check of a signature makes one request. */
class CountedKeys extends TokenKeys {
  lookups = 0;
  constructor(private readonly keys: TokenKeys) {
    super();
  }
  override get issuer(): string {
    return this.keys.issuer;
  }
  override sign(claims: Readonly<Record<string, unknown>>): Promise<string> {
    return this.keys.sign(claims);
  }
  override verificationKey(kid: string): string | null {
    this.lookups += 1;
    return this.keys.verificationKey(kid);
  }
  override published(): readonly PublicJwk[] {
    return this.keys.published();
  }
}

/** Accepts every valid token and remembers its claims. */
class AnyCaller extends BearerStrategy {
  protected override principalOf(claims: Claims): Principal {
    return { claims } as unknown as Principal;
  }
}

type Audience = 'platform' | 'dashboard';

const ISSUER = 'https://service.example.test';
const now = (): number => Math.floor(Date.now() / 1_000);

describe('bearer tokens', () => {
  let privateKey: KeyObject;
  let keys: CountedKeys;
  let clock: SetClock;
  let strategies: Readonly<Record<Audience, AnyCaller>>;
  /** Null if the token is refused. */
  const claimsIn = async (authorization: string | undefined, audience: Audience = 'platform') => {
    const request = { headers: { authorization } } as FastifyRequest;
    try {
      await strategies[audience].admit(request, {} as FastifyReply);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'request.unauthenticated') return null;
      throw error;
    }
    return (request.principal as unknown as { readonly claims: Claims }).claims;
  };
  const claimsOf = (token: string, audience?: Audience) => claimsIn(`Bearer ${token}`, audience);
  const good = (more: object = {}) => keys.sign({ aud: 'platform', sub: 'key', exp: now() + 60, ...more });

  beforeAll(async () => {
    ({ privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' }));
    keys = new CountedKeys(
      await Es256TokenKeys.from(privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), ISSUER),
    );
    clock = new SetClock(Date.now());
    const tokens = new BearerTokens(keys, clock);
    strategies = { platform: new AnyCaller(tokens, 'platform'), dashboard: new AnyCaller(tokens, 'dashboard') };
  });

  it('are accepted with their claims', async () => {
    expect(await claimsOf(await good({ account_id: 'a' }))).toMatchObject({
      aud: 'platform',
      sub: 'key',
      account_id: 'a',
      iss: ISSUER,
    });
  });

  it('are verified once for each API surface, and then remembered', async () => {
    const token = await good();
    await claimsOf(token);
    const before = keys.lookups;
    expect(await claimsOf(token)).toMatchObject({ sub: 'key' });
    expect(await claimsOf(token, 'dashboard')).toBeNull();
    expect(keys.lookups).toBe(before + 1);
  });

  it('are verified with the keys of their own service when two services run in one process', async () => {
    const others = await Es256TokenKeys.from(
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      ISSUER,
    );
    const later = new AnyCaller(new BearerTokens(others, clock), 'platform');
    const request = { headers: { authorization: `Bearer ${await good()}` } } as FastifyRequest;
    await expect(later.admit(request, {} as FastifyReply)).rejects.toThrow(DomainError);
    expect(await claimsOf(await good())).not.toBeNull();
  });

  it('give each concurrent caller the claims of its own token', async () => {
    const subjects = Array.from({ length: 20 }, (_, caller) => `caller-${caller}`);
    const tokens = await Promise.all(subjects.map((sub) => good({ sub })));
    const claims = await Promise.all(tokens.map((token) => claimsOf(token)));
    expect(claims.map((one) => one?.['sub'])).toEqual(subjects);
  });

  it('are forgotten when they expire', async () => {
    const token = await good({ exp: now() + 60 });
    expect(await claimsOf(token)).not.toBeNull();
    clock.time += 61_000;
    expect(await claimsOf(token)).toBeNull();
    clock.time -= 61_000;
  });

  it('with a wrong form, issuer, audience, time or signer are refused', async () => {
    const other = await Es256TokenKeys.from(
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      ISSUER,
    );
    const elsewhere = await Es256TokenKeys.from(
      privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      'https://other.example.test',
    );
    const claims = { aud: 'platform', sub: 'key', iss: ISSUER, exp: now() + 60 };
    const [header, payload, signature] = (await good()).split('.') as [string, string, string];
    const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
    const hs256 = `${encoded({ alg: 'HS256', typ: 'JWT', kid })}.${encoded(claims)}`;
    const forged = {
      'another audience': await keys.sign({ ...claims, aud: 'dashboard' }),
      'no audience': await keys.sign({ sub: 'key', exp: now() + 60 }),
      'another issuer': await elsewhere.sign(claims),
      'an expired one': await keys.sign({ ...claims, exp: now() - 1 }),
      'one that never expires': await keys.sign({ aud: 'platform', sub: 'key' }),
      'one not valid yet': await keys.sign({ ...claims, nbf: now() + 60 }),
      'the key of another signer': await other.sign(claims),
      'another signature under our kid': `${header}.${payload}.${(await other.sign(claims)).split('.')[2]}`,
      'alg none': `${encoded({ alg: 'none', typ: 'JWT', kid })}.${encoded(claims)}.`,
      'alg none with a signature': `${encoded({ alg: 'none', typ: 'JWT', kid })}.${encoded(claims)}.${signature}`,
      'HS256 with the public key': `${hs256}.${createHmac('sha256', keys.verificationKey(kid)!).update(hs256).digest('base64url')}`,
      'other claims under the signature': `${header}.${encoded({ ...claims, sub: 'other' })}.${signature}`,
      'no kid': `${encoded({ alg: 'ES256', typ: 'JWT' })}.${payload}.${signature}`,
      'a header that is not JSON': `AAAA.${payload}.${signature}`,
      'a header that is null': `${Buffer.from('null').toString('base64url')}.${payload}.${signature}`,
      'no token': 'hello',
      nothing: '',
    };
    for (const [what, token] of Object.entries(forged)) expect([what, await claimsOf(token)]).toEqual([what, null]);
  });

  it('must be the only content of the header', async () => {
    const token = await good();
    for (const header of [
      undefined,
      '',
      token,
      `Basic ${token}`,
      `Bearer ${token} ${token}`,
      `Bearer ${token},`,
      `Bearer${token}`,
    ]) {
      expect([header, await claimsIn(header)]).toEqual([header, null]);
    }
    expect(await claimsIn(`bearer  ${token}`)).not.toBeNull();
  });
});
