// ops tokens issue | revoke: tokens with which the people of an account call the dashboard API.
import { CommandBus } from '@nestjs/cqrs';
import { Command, Option, SubCommand } from 'nest-commander';
import type { Environment } from '../kernel/environment.js';
import { IssueDashboardToken } from '../modules/accounts/application/issue-dashboard-token.js';
import { ROLES, type Role } from '../modules/accounts/domain/account.js';
import { RevokeDashboardToken } from '../modules/accounts/application/revoke-dashboard-token.js';
import { accountProjection, accountsList } from '../modules/accounts/read/accounts.js';
import { CommandGroup } from './command-group.js';
import { Consent, ConsentedCommand, type ConsentValues } from './consent.js';
import { idIn, oneOf, operatorContext, wholeNumber, WrongInput } from './operator.js';
import { print } from './output.js';
import { OperatorLists } from './operator-lists.js';

const DEFAULT_HOURS = 8;
const MAX_HOURS = 24 * 366;
/** A token that is valid for longer needs a reason. */
const HOURS_WITHOUT_REASON = 24;

interface IssueValues extends ConsentValues {
  readonly user: string;
  readonly role: Role;
  readonly environment?: Environment;
  readonly hours?: number;
}

@SubCommand({
  name: 'issue',
  arguments: '<account>',
  description: 'Issue a dashboard token, which is shown only this once',
})
export class IssueTokenCommand extends ConsentedCommand {
  constructor(private readonly commands: CommandBus) {
    super();
  }

  @Option({
    flags: '--user <id>',
    description: 'id of the user, recorded with all actions of the user; not a name or a mail address',
    required: true,
  })
  readUser(text: string): string {
    return text;
  }

  @Option({ flags: '--role <role>', description: ROLES.join(', '), required: true })
  readRole(text: string): Role {
    return oneOf(text, ROLES, '--role');
  }

  @Option({ flags: '--environment <environment>', description: 'test or live; default: live' })
  readEnvironment(text: string): Environment {
    return oneOf(text, ['test', 'live'], '--environment');
  }

  @Option({
    flags: '--hours <number>',
    description: `hours until it expires; default: ${DEFAULT_HOURS}; more than ${HOURS_WITHOUT_REASON} only with --reason`,
  })
  readHours(text: string): number {
    return wholeNumber(text, '--hours');
  }

  override async run(
    [account]: string[],
    { user, role, environment = 'live', hours = DEFAULT_HOURS, reason, ticket }: IssueValues,
  ): Promise<void> {
    const accountId = idIn(account, 'account');
    if (hours < 1 || hours > MAX_HOURS) throw new WrongInput(`--hours must be from 1 to ${MAX_HOURS}.`);
    if (hours > HOURS_WITHOUT_REASON && reason === undefined)
      throw new WrongInput(`A token for more than ${HOURS_WITHOUT_REASON} hours needs --reason <text>.`);
    print(
      await this.commands.execute(
        new IssueDashboardToken(
          { accountId, userId: user, role, environment, ttlSeconds: hours * 3_600 },
          operatorContext(reason, ticket),
        ),
      ),
    );
  }
}

@SubCommand({
  name: 'revoke',
  arguments: '<token>',
  description: 'Revoke a dashboard token by its id, which was shown when it was issued; it is refused from then on',
})
export class RevokeTokenCommand extends ConsentedCommand {
  constructor(
    private readonly commands: CommandBus,
    private readonly lists: OperatorLists,
    private readonly consent: Consent,
  ) {
    super();
  }

  override async run([token]: string[], values: ConsentValues = {}): Promise<void> {
    const tokenId = idIn(token, 'token');
    const context = await this.consent.given(values, `revoke the dashboard token ${tokenId}`);
    const accounts = await this.lists.idsIn(accountProjection, accountsList());
    await this.commands.execute(new RevokeDashboardToken(accounts, tokenId, context));
    print({ revokedToken: tokenId });
  }
}

@Command({ name: 'tokens', description: 'Dashboard tokens', subCommands: [IssueTokenCommand, RevokeTokenCommand] })
export class TokensCommand extends CommandGroup {}
