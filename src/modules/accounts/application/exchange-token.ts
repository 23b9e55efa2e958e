import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Environment } from '../../../kernel/environment.js';
import type { ErrorCode } from '../../../kernel/error-codes.js';
import { newId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { limitRule, RateLimiter, type RateVerdict } from '../../../ports/rate-limiter.js';
import { TokenKeys } from '../../../ports/token-keys.js';
import { AccessKeys, type PublishableKey } from '../../../published/access-keys.js';
import { Accounts, type AccountFacts } from '../../../published/accounts.js';
import { allowsOrigin } from '../domain/access-key.js';
import type { GrantFault } from '../domain/session-grant.js';
import { GrantRedemption } from './grant-redemption.js';

/** Settings of the token exchange; also the injection token. */
export abstract class TokenOptions {
  abstract readonly ttlSeconds: number;
  /** Exchanges per minute of one key and client address, unless the key has its own limit. */
  abstract readonly exchangesPerMinute: number;
  /** Exchanges per minute of one key over all client addresses. */
  abstract readonly exchangesPerMinutePerKey: number;
}

/** The credentials of the request. Null means that the header is missing. */
@UseCase()
export class ExchangeToken extends Command<Exchange> {
  constructor(
    readonly request: {
      readonly publishableKey: string | null;
      readonly origin: string | null;
      readonly sessionToken: string | null;
      /** Null for a first exchange, and `bad` for an invalid bearer token. */
      readonly renewed: RenewedToken | 'bad' | null;
      readonly clientAddress: string;
      readonly correlationId: string;
    },
  ) {
    super();
  }
}

/** A valid bearer token that was presented from the token's own origin. */
export interface RenewedToken {
  readonly keyId: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly grantId: string | null;
  /** The id of the first token in its chain of renewals. */
  readonly lineage: string;
  /** The time of the first exchange in that chain; seconds since 1970. */
  readonly exchangedAt: number;
}

/** Refusals carry the quota too, because every reply of the exchange reports it. */
export interface Exchange {
  readonly quota: Pick<RateVerdict, 'limit' | 'remaining' | 'resetSeconds'>;
  readonly result: ExchangedToken | DomainError;
}

export interface ExchangedToken {
  readonly token: string;
  readonly expiresInSeconds: number;
  /** The token's account is the account of the key, or the account that the grant names. */
  readonly account: AccountFacts;
  /** The result for the session grant in the request; null if the request had no grant. */
  readonly grant: {
    readonly consumed: boolean;
    readonly reason: GrantFault | null;
    readonly onBehalfOfChild: boolean;
  } | null;
}

interface TokenFacts {
  readonly account: AccountFacts;
  readonly grantId: string | null;
  readonly jti: string;
  readonly renewed?: RenewedToken;
}

const WINDOW_SECONDS = 60;
const NOT_RENEWABLE = 'The bearer token cannot be renewed. Exchange the key without an Authorization header.';
const PER_MINUTE = 'TOKEN_EXCHANGE_PER_MINUTE';
/** A token can be renewed for a working day. Without this limit, a single-use grant would give access as long as its key is valid. */
const RENEWABLE_SECONDS = 12 * 3_600;

/** The checks, their order, and which limit each result counts for: docs/contract/platform.md#token-exchange. */
@Handles(ExchangeToken)
export class ExchangeTokenHandler implements ICommandHandler<ExchangeToken> {
  constructor(
    private readonly accessKeys: AccessKeys,
    private readonly accounts: Accounts,
    private readonly limiter: RateLimiter,
    private readonly tokenKeys: TokenKeys,
    private readonly grants: GrantRedemption,
    private readonly clock: Clock,
    private readonly options: TokenOptions,
  ) {}

  async execute({ request }: ExchangeToken): Promise<Exchange> {
    if (request.publishableKey === null) return this.withoutKey('token.key_missing');
    const key = await this.accessKeys.publishable(request.publishableKey);
    if (key === null) return this.withoutKey('token.key_invalid');
    const perMinute = key.exchangesPerMinute ?? this.options.exchangesPerMinute;
    const origin = admittedOrigin(key, request.origin);
    const quota = await this.limiter.hit(counterOf(key, origin, request), perMinute, WINDOW_SECONDS);
    if (!quota.allowed)
      return { quota, result: tooMany(quota.resetSeconds, perMinute, 'exchanges by one caller', PER_MINUTE) };
    return { quota, result: origin instanceof DomainError ? origin : await this.tokenFor(key, origin, request) };
  }

  private async tokenFor(
    key: PublishableKey,
    origin: string,
    { sessionToken, renewed, clientAddress, correlationId }: ExchangeToken['request'],
  ): Promise<ExchangedToken | DomainError> {
    const renewal = renewed === 'bad' ? null : renewed;
    const shed = renewal === null ? await this.shedOf(key, clientAddress) : null;
    if (shed !== null && sessionToken === null) return shed;
    const account = await this.accounts.find(key.accountId);
    if (account === null) throw new Error(`The account of key ${key.keyId} does not exist`);
    if (key.environment === 'live' && !isBilled(account)) return new DomainError('token.billing_not_configured');
    if (renewed === null) return this.exchange(key, origin, account, { sessionToken, correlationId, shed });
    if (renewal === null || !isRenewable(renewal, key, this.now()))
      return shed ?? new DomainError('request.unauthenticated', { rule: NOT_RENEWABLE });
    return this.renew(key, origin, renewal);
  }

  /** Limits the exchanges of a key over all addresses. It refuses the busiest first (see RateUse). A higher limit of the key itself applies. */
  private async shedOf(
    { keyId, exchangesPerMinute }: PublishableKey,
    clientAddress: string,
  ): Promise<DomainError | null> {
    const perKey = this.options.exchangesPerMinutePerKey;
    const limit = perKey === 0 ? 0 : Math.max(perKey, exchangesPerMinute ?? 0);
    const use = { key: `token_exchanges:${keyId}`, limit, windowSeconds: WINDOW_SECONDS, callers: [clientAddress] };
    const refusal = await this.limiter.take([use]);
    return refusal && tooMany(refusal.retryAfterSeconds, limit, 'exchanges of one key', `${PER_MINUTE}_PER_KEY`);
  }

  /** The new token has the same account and the same grant. The grant is not redeemed again. */
  private async renew(key: PublishableKey, origin: string, renewed: RenewedToken): Promise<ExchangedToken> {
    const account = await this.accounts.find(renewed.accountId);
    if (account === null) throw new Error(`The account of a token of key ${key.keyId} does not exist`);
    const issued = await this.issue(key, origin, { account, grantId: renewed.grantId, jti: newId(), renewed });
    return { ...issued, grant: null };
  }

  /**
   * Redeems the grant last, when the exchange can no longer fail. A grant that cannot be redeemed does not make the exchange fail. `shed` refuses an
   * exchange without a valid grant.
   */
  private async exchange(
    key: PublishableKey,
    origin: string,
    keyHolder: AccountFacts,
    {
      sessionToken,
      correlationId,
      shed,
    }: Pick<ExchangeToken['request'], 'sessionToken' | 'correlationId'> & { readonly shed: DomainError | null },
  ): Promise<ExchangedToken | DomainError> {
    const jti = newId();
    const redemption = sessionToken === null ? null : await this.grants.redeem(sessionToken, key, jti, correlationId);
    if (shed !== null && redemption?.consumed !== true) return shed;
    const holder = redemption?.consumed ? redemption : { account: keyHolder, grantId: null };
    const issued = await this.issue(key, origin, { account: holder.account, grantId: holder.grantId, jti });
    return {
      ...issued,
      grant: redemption && {
        consumed: redemption.consumed,
        reason: redemption.consumed ? null : redemption.reason,
        onBehalfOfChild: redemption.onBehalfOfChild,
      },
    };
  }

  private async issue(
    key: PublishableKey,
    origin: string,
    { account, grantId, jti, renewed }: TokenFacts,
  ): Promise<Omit<ExchangedToken, 'grant'>> {
    const iat = this.now();
    const expiresInSeconds = this.options.ttlSeconds;
    const token = await this.tokenKeys.sign({
      aud: 'platform',
      sub: key.keyId,
      account_id: account.accountId,
      env: key.environment,
      origin,
      ...(grantId !== null && { grant: grantId }),
      jti,
      // Absent at a first exchange, where they equal `iat` and `jti`.
      ...(renewed && { auth_time: renewed.exchangedAt, lineage: renewed.lineage }),
      iat,
      exp: iat + expiresInSeconds,
    });
    return { token, expiresInSeconds, account };
  }

  /** Seconds since 1970. */
  private now(): number {
    return Math.floor(this.clock.now().getTime() / 1_000);
  }

  private withoutKey(code: ErrorCode): Exchange {
    return { quota: quotaWithoutKey(this.options), result: new DomainError(code) };
  }
}

function tooMany(retryAfterSeconds: number, limit: number, of: string, by: string): DomainError {
  return new DomainError('request.rate_limited', { retryAfterSeconds, rule: limitRule(limit, of, WINDOW_SECONDS, by) });
}

/**
 * A publishable key is public, so an exchange counts for the caller's address and not for the key's owner.
 * Renewals have a separate count. Other callers at the address of an open page cannot use it up.
 */
function counterOf(
  { keyId }: PublishableKey,
  origin: string | DomainError,
  { renewed, clientAddress }: ExchangeToken['request'],
): string {
  if (origin instanceof DomainError) return `token_exchange_refused:${keyId}:${clientAddress}`;
  return renewed === null || renewed === 'bad'
    ? `token_exchange:${keyId}:${clientAddress}`
    : `token_renewal:${keyId}:${renewed.lineage}`;
}

function isBilled({ prepaidBilling, connectedPaymentAccount }: AccountFacts): boolean {
  return prepaidBilling || connectedPaymentAccount !== null;
}

/** `now`: seconds since 1970. */
function isRenewable({ keyId, environment, exchangedAt }: RenewedToken, key: PublishableKey, now: number): boolean {
  return keyId === key.keyId && environment === key.environment && now < exchangedAt + RENEWABLE_SECONDS;
}

/** An unknown key counts for no limit. The caller sees the default quota. */
export function quotaWithoutKey({ exchangesPerMinute }: TokenOptions): Exchange['quota'] {
  return { limit: exchangesPerMinute, remaining: exchangesPerMinute, resetSeconds: WINDOW_SECONDS };
}

/** The origin to which the token will be bound. */
function admittedOrigin(key: PublishableKey, origin: string | null): string | DomainError {
  if (!key.active) return new DomainError('token.key_inactive');
  if (origin === null) return new DomainError('token.origin_missing');
  return allowsOrigin(key, origin) ? origin : new DomainError('token.origin_not_allowed');
}
