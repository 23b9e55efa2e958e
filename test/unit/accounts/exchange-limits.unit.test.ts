// How often a publishable key may be exchanged when the default limits apply (docs/contract/platform.md#token-exchange).
import { beforeEach, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../../src/config/config.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import {
  ExchangeToken,
  ExchangeTokenHandler,
  type RenewedToken,
} from '../../../src/modules/accounts/application/exchange-token.js';
import type { GrantRedemption } from '../../../src/modules/accounts/application/grant-redemption.js';
import type { TokenKeys } from '../../../src/ports/token-keys.js';
import type { AccessKeys } from '../../../src/published/access-keys.js';
import type { Accounts } from '../../../src/published/accounts.js';
import { CountedInMemory } from '../../support/rate-limiter.js';

const ORIGIN = 'https://site.example.test';
const { limits } = readConfig({ REDIS_URL: 'redis://127.0.0.1:6379' });

describe('the limits of the token exchange', () => {
  let limiter: CountedInMemory;
  let own: number | null;
  let exchanging: ExchangeTokenHandler;

  beforeEach(() => {
    limiter = new CountedInMemory();
    own = null;
    const account = { accountId: 'account', prepaidBilling: true, connectedPaymentAccount: null };
    const key = { keyId: 'key', accountId: 'account', environment: 'test', active: true, allowedOrigins: [ORIGIN] };
    exchanging = new ExchangeTokenHandler(
      { publishable: async () => ({ ...key, exchangesPerMinute: own }) } as unknown as AccessKeys,
      { find: async () => account } as unknown as Accounts,
      limiter,
      { sign: async () => 'token' } as unknown as TokenKeys,
      {
        redeem: async (text: string) =>
          text === 'good'
            ? { consumed: true, grantId: 'grant', account, onBehalfOfChild: false }
            : { consumed: false, reason: 'NOT_FOUND', onBehalfOfChild: false },
      } as unknown as GrantRedemption,
      new SystemClock(),
      {
        ttlSeconds: limits.tokenTtl,
        exchangesPerMinute: limits.tokenExchangePerMinute,
        exchangesPerMinutePerKey: limits.tokenExchangePerMinutePerKey,
      },
    );
  });

  const exchange = async (
    from: string,
    {
      origin = ORIGIN,
      grant = null,
      renewed = null,
    }: { origin?: string; grant?: string | null; renewed?: RenewedToken | 'bad' | null } = {},
  ): Promise<string> => {
    const { result } = await exchanging.execute(
      new ExchangeToken({
        publishableKey: 'pk_test_key',
        origin,
        sessionToken: grant,
        renewed,
        clientAddress: from,
        correlationId: 'request',
      }),
    );
    return result instanceof Error ? result.message : 'ok';
  };
  const renewal = (lineage: string): RenewedToken => ({
    keyId: 'key',
    accountId: 'account',
    environment: 'test',
    grantId: null,
    lineage,
    exchangedAt: Math.floor(Date.now() / 1_000),
  });
  const times = async (many: number, what: () => Promise<string>, said = 'ok'): Promise<void> => {
    for (let count = 0; count < many; count++) expect(await what()).toBe(said);
  };

  it('allow a key 60 exchanges a minute from one address; other addresses and refused exchanges have their own counts', async () => {
    await times(60, () => exchange('203.0.113.1'));
    expect([
      await exchange('203.0.113.1'),
      await exchange('203.0.113.2'),
      await exchange('203.0.113.1', { origin: 'https://evil.example.test' }),
    ]).toEqual(['request.rate_limited', 'ok', 'token.origin_not_allowed']);
    limiter.endWindows(60);
    expect(await exchange('203.0.113.1')).toBe('ok');
  });

  it('let each open page renew its token 60 times a minute when new exchanges have used up the limit of their address', async () => {
    await times(60, () => exchange('203.0.113.1'));
    await times(60, () => exchange('203.0.113.1', { renewed: renewal('one') }));
    expect([
      await exchange('203.0.113.1', { renewed: renewal('one') }),
      await exchange('203.0.113.1', { renewed: renewal('two') }),
      await exchange('203.0.113.1', { renewed: 'bad' }),
    ]).toEqual(['request.rate_limited', 'ok', 'request.rate_limited']);
    await times(60, () => exchange('203.0.113.9'));
  });

  it('allow a key 600 exchanges a minute; beyond 600 the busiest addresses wait, while valid grants and renewals pass', async () => {
    for (let at = 0; at < 20; at++) await times(30, () => exchange(`10.0.0.${at}`));
    const from = '10.0.0.1';
    expect([
      await exchange(from),
      await exchange(from, { grant: 'bad' }),
      await exchange(from, { grant: 'good' }),
      await exchange(from, { renewed: renewal('one') }),
      await exchange('203.0.113.1'),
      await exchange('203.0.113.1'),
    ]).toEqual(['request.rate_limited', 'request.rate_limited', 'ok', 'ok', 'ok', 'ok']);
  });

  it("apply the key's own limit to each address, and allow at least as many exchanges in total", async () => {
    own = 1_000;
    await times(1_000, () => exchange('203.0.113.1'));
    expect(await exchange('203.0.113.1')).toBe('request.rate_limited');
  });
});
