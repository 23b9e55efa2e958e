import { randomBytes } from 'node:crypto';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import type { EndUserType } from '../../../kernel/end-user-type.js';
import type { Environment } from '../../../kernel/environment.js';
import { isId, newId } from '../../../kernel/ids.js';
import type { NamedPurpose, PermissiblePurpose } from '../../../kernel/permissible-purpose.js';
import { DomainError, fieldError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { TestTraffic } from '../../../platform/aggregates/test-traffic.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Accounts, type UserType } from '../../../published/accounts.js';
import { purposeOfRead } from '../../../published/purposes.js';
import { hashKey, writeKey } from '../domain/key-text.js';
import { embedderOf, sessionGrant } from '../domain/session-grant.js';
import { GrantDetails } from './grant-details.js';

/** Settings of session grants; also the injection token. */
export abstract class GrantOptions {
  abstract readonly ttlSeconds: number;
}

export interface GrantRequest {
  readonly onBehalfOf: string | null;
  readonly userType: UserType | null;
  /** OTHER: the details say in the caller's words who the user is. */
  readonly endUserType: EndUserType | 'OTHER' | null;
  /** The purpose for which the report may be read. */
  readonly purpose: PermissiblePurpose | null;
  readonly recipientAccountId: string | null;
  readonly applicationFeeCents: number | null;
  /** The caller's details of the session. The details may be personal, so the vault stores them. Null if the caller gave none. */
  readonly details: Readonly<Record<string, unknown>> | null;
}

export interface IssuedGrantToken {
  readonly grantId: string;
  /** The token is shown only once, because the service stores only its hash. */
  readonly token: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly onBehalfOf: string | null;
  readonly expiresInSeconds: number;
  readonly expiresAt: string;
}

/**
 * Issues a single-use grant for a session of the caller's account, or of a direct child of it. Any other account id gets the error of an unknown
 * account, so the reply reveals no accounts. Each call issues another grant. A grant whose reply was lost is harmless, because its token is not
 * stored.
 */
@UseCase()
export class IssueGrant extends Command<IssuedGrantToken> {
  constructor(
    readonly wishes: GrantRequest,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(IssueGrant)
export class IssueGrantHandler implements ICommandHandler<IssueGrant> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly testTraffic: TestTraffic,
    private readonly accounts: Accounts,
    private readonly details: GrantDetails,
    private readonly clock: Clock,
    private readonly options: GrantOptions,
  ) {}

  async execute({
    wishes: { onBehalfOf, userType, endUserType, purpose, recipientAccountId, applicationFeeCents, details },
    context,
  }: IssueGrant): Promise<IssuedGrantToken> {
    this.testTraffic.admit(context);
    const { accountId: mintedBy, environment } = context;
    if (onBehalfOf !== null && (await this.find(onBehalfOf))?.parentId !== mintedBy)
      throw new DomainError('request.not_found');
    if (recipientAccountId !== null && (await this.find(recipientAccountId)) === null)
      throw fieldError('request.invalid', 'grant.recipient', 'must be the id of an account');

    const grantId = newId();
    const accountId = embedderOf({ mintedBy, onBehalfOf });
    if (applicationFeeCents !== null) await this.admitFee(accountId, applicationFeeCents);
    await this.admitPurpose(accountId, { purpose, endUserType: knownOf(endUserType) });
    // The details are stored before the event that refers to them.
    const detailsSubject = details && (await this.details.keep(grantId, details));
    const externalIdHash = details && (await this.details.externalIdHashOf({ accountId, environment }, details));
    const token = writeKey('grant', environment, grantId, randomBytes(32));
    const { ttlSeconds } = this.options;
    const expiresAt = new Date(this.clock.now().getTime() + ttlSeconds * 1_000).toISOString();
    const terms = {
      mintedBy,
      onBehalfOf,
      environment,
      userType,
      recipientAccountId,
      detailsSubject,
      ...present({ endUserType, purpose, applicationFeeCents, externalIdHash }),
      tokenHash: hashKey(token),
      expiresAt,
    };
    await this.aggregates.execute(sessionGrant, grantId, { kind: 'mint', terms }, { ...context, accountId });
    return { grantId, token, accountId, environment, onBehalfOf, expiresInSeconds: ttlSeconds, expiresAt };
  }

  /** A grant may not set a fee that contradicts the account's own settings. */
  private async admitFee(accountId: string, feeCents: number): Promise<void> {
    const account = await this.find(accountId);
    if (account === null) return;
    const { applicationFeeCents, maxApplicationFeeCents } = account;
    if (applicationFeeCents !== null && feeCents !== applicationFeeCents)
      throw fieldError(
        'request.invalid',
        'grant.applicationFee',
        `must be ${applicationFeeCents}, the fixed fee of the account`,
      );
    if (maxApplicationFeeCents !== null && feeCents > maxApplicationFeeCents)
      throw fieldError(
        'request.invalid',
        'grant.applicationFee',
        `must be at most ${maxApplicationFeeCents}, the limit of the account`,
      );
  }

  /** A grant may not name a purpose that the account has not certified. */
  private async admitPurpose(accountId: string, named: NamedPurpose): Promise<void> {
    const account = named.purpose === null ? null : await this.find(accountId);
    if (account !== null) purposeOfRead(account, [named], this.clock.now());
  }

  private async find(accountId: string): ReturnType<Accounts['find']> {
    return isId(accountId) ? this.accounts.find(accountId) : null;
  }
}

/** The fields that are not null. */
function present<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [Name in keyof Fields]?: NonNullable<Fields[Name]>;
  };
}

function knownOf(endUserType: GrantRequest['endUserType']): EndUserType | null {
  return endUserType === 'OTHER' ? null : endUserType;
}
