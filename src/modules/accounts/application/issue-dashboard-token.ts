import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Environment } from '../../../kernel/environment.js';
import { newId } from '../../../kernel/ids.js';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { TokenKeys } from '../../../ports/token-keys.js';
import { account, permissionsOf, type Role } from '../domain/account.js';

export interface IssuedDashboardToken {
  readonly tokenId: string;
  readonly token: string;
  readonly expiresAt: string;
}

@UseCase()
export class IssueDashboardToken extends Command<IssuedDashboardToken> {
  constructor(
    readonly request: {
      readonly accountId: string;
      /** Recorded with every action of the user. This text is never a name or a mail address. */
      readonly userId: string;
      readonly role: Role;
      readonly environment: Environment;
      readonly ttlSeconds: number;
    },
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(IssueDashboardToken)
export class IssueDashboardTokenHandler implements ICommandHandler<IssueDashboardToken> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly keys: TokenKeys,
    private readonly clock: Clock,
  ) {}

  async execute({
    request: { accountId, userId, role, environment, ttlSeconds },
    context,
  }: IssueDashboardToken): Promise<IssuedDashboardToken> {
    const tokenId = newId();
    const iat = Math.floor(this.clock.now().getTime() / 1_000);
    const exp = iat + ttlSeconds;
    const expiresAt = new Date(exp * 1_000).toISOString();
    await this.aggregates.execute(
      account,
      accountId,
      { kind: 'issue-dashboard-token', tokenId, userId, role, expiresAt },
      { ...context, accountId, environment },
    );
    const permissions = permissionsOf(role);
    const token = await this.keys.sign({
      aud: 'dashboard',
      sub: userId,
      account_id: accountId,
      env: environment,
      role,
      permissions,
      jti: tokenId,
      iat,
      exp,
    });
    return { tokenId, token, expiresAt };
  }
}
