import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Condition } from '../../../kernel/conditions.js';
import { newId } from '../../../kernel/ids.js';
import { Refusal } from '../../../kernel/refusal.js';
import { Handles, UseCase } from '../../../platform/handling/use-case.js';
import { RateLimiter, type RateVerdict } from '../../../ports/rate-limiter.js';
import { TokenKeys } from '../../../ports/token-keys.js';
import { AccessKeys, type PublishableKey } from '../../../published/access-keys.js';
import { Accounts, type AccountFacts } from '../../../published/accounts.js';
import { allowsOrigin } from '../domain/access-key.js';

/** What the configuration says to the exchange; also the injection token. */
export abstract class TokenOptions {
  abstract readonly ttlSeconds: number;
  /** Exchanges a minute for keys without a limit of their own. */
  abstract readonly exchangesPerMinute: number;
}

/** What was presented; null stands for a missing header. */
@UseCase()
export class ExchangeToken extends Command<Exchange> {
  constructor(
    readonly publishableKey: string | null,
    readonly origin: string | null,
    readonly sessionToken: string | null,
  ) {
    super();
  }
}

/** The quota travels with refusals too, because every reply tells it. */
export interface Exchange {
  readonly quota: Pick<RateVerdict, 'limit' | 'remaining' | 'resetSeconds'>;
  readonly result: ExchangedToken | Refusal;
}

export interface ExchangedToken {
  readonly token: string;
  readonly expiresInSeconds: number;
  readonly account: AccountFacts;
  /** What became of the session grant that was supplied; null when none was. */
  readonly grant: { readonly consumed: boolean; readonly reason: 'NOT_FOUND' | null } | null;
}

const WINDOW_SECONDS = 60;

/** The checks and their order: decisions 2.1. */
@Handles(ExchangeToken)
export class ExchangeTokenHandler implements ICommandHandler<ExchangeToken> {
  constructor(
    private readonly accessKeys: AccessKeys,
    private readonly accounts: Accounts,
    private readonly limiter: RateLimiter,
    private readonly tokenKeys: TokenKeys,
    private readonly clock: Clock,
    private readonly options: TokenOptions,
  ) {}

  async execute({ publishableKey, origin, sessionToken }: ExchangeToken): Promise<Exchange> {
    if (publishableKey === null) return this.withoutKey('token.key_missing');
    const key = await this.accessKeys.publishable(publishableKey);
    if (key === null) return this.withoutKey('token.key_invalid');
    const quota = await this.limiter.hit(`token_exchange:${key.keyId}`, key.exchangesPerMinute ?? this.options.exchangesPerMinute, WINDOW_SECONDS);
    if (!quota.allowed) return { quota, result: new Refusal('token.rate_limited', { retryAfterSeconds: quota.resetSeconds }) };
    if (!key.active) return { quota, result: new Refusal('token.key_inactive') };
    if (origin === null) return { quota, result: new Refusal('token.origin_missing') };
    if (!allowsOrigin(key, origin)) return { quota, result: new Refusal('token.origin_not_allowed') };
    const account = await this.accounts.find(key.accountId);
    if (account === null) throw new Error(`Key ${key.keyId} belongs to no account`);
    const billed = account.prepaidBilling || account.connectedPaymentAccount !== null;
    if (key.environment === 'live' && !billed) return { quota, result: new Refusal('token.billing_not_configured') };
    // No session grant can exist as long as nothing mints them, so a supplied one is unknown; it never fails the exchange.
    const grant = sessionToken === null ? null : ({ consumed: false, reason: 'NOT_FOUND' } as const);
    return { quota, result: { token: await this.sign(key, origin), expiresInSeconds: this.options.ttlSeconds, account, grant } };
  }

  /** Nothing is counted where no key is known; the caller hears the quota that a key has by default. */
  private withoutKey(condition: Condition): Exchange {
    const limit = this.options.exchangesPerMinute;
    return { quota: { limit, remaining: limit, resetSeconds: WINDOW_SECONDS }, result: new Refusal(condition) };
  }

  private sign({ keyId, accountId, environment }: PublishableKey, origin: string): Promise<string> {
    const iat = Math.floor(this.clock.now().getTime() / 1_000);
    const exp = iat + this.options.ttlSeconds;
    return this.tokenKeys.sign({ aud: 'platform', sub: keyId, account_id: accountId, env: environment, origin, jti: newId(), iat, exp });
  }
}
