import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { derivedId } from '../../../kernel/ids.js';
import type { ActionContext } from '../../../kernel/context.js';
import { TokenKeys } from '../../../ports/token-keys.js';
import type { Role } from '../domain/account.js';
import { IssueDashboardToken } from './issue-dashboard-token.js';

const ROLES = [
  ['owner', 'OWNER'],
  ['administrator', 'ADMINISTRATOR'],
  ['developer', 'DEVELOPER'],
] as const satisfies readonly (readonly [string, Role])[];

const DAY_SECONDS = 86_400;
/** Tokens are valid for a year, so that a trial installation still works after months. */
const TTL_SECONDS = 365 * DAY_SECONDS;
const RENEW_BELOW_SECONDS = 30 * DAY_SECONDS;

/** The dashboard tokens of the demo accounts. A token is kept if a current key verifies it and it is valid for another month. */
@Injectable()
export class DemoTokens {
  constructor(
    private readonly commands: CommandBus,
    private readonly keys: TokenKeys,
    private readonly clock: Clock,
  ) {}

  async of(
    accountId: string,
    known: (role: string) => string | null,
    context: ActionContext,
  ): Promise<Record<string, string>> {
    const tokens: Record<string, string> = {};
    for (const [name, role] of ROLES) {
      const token = known(name);
      tokens[name] = token !== null && this.stillGood(token) ? token : await this.issue(accountId, role, context);
    }
    return tokens;
  }

  private async issue(accountId: string, role: Role, context: ActionContext): Promise<string> {
    const userId = derivedId('demo-user', accountId, role);
    const { token } = await this.commands.execute(
      new IssueDashboardToken({ accountId, userId, role, environment: 'test', ttlSeconds: TTL_SECONDS }, context),
    );
    return token;
  }

  /** Reads the token without verifying it, because the service itself wrote the file. `kid` is the thumbprint of the signing key. */
  private stillGood(token: string): boolean {
    const [header, claims] = token.split('.', 2).map(parsed);
    const exp = typeof claims?.['exp'] === 'number' ? claims['exp'] : 0;
    const known = typeof header?.['kid'] === 'string' && this.keys.verificationKey(header['kid']) !== null;
    return (
      known && claims?.['iss'] === this.keys.issuer && exp - this.clock.now().getTime() / 1_000 > RENEW_BELOW_SECONDS
    );
  }
}

function parsed(part: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown> | null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
