// ops tokens issue: lets a user of an account into the dashboard API.
import { CommandBus } from '@nestjs/cqrs';
import { Command, Option, SubCommand } from 'nest-commander';
import type { Environment } from '../kernel/environment.js';
import { IssueDashboardToken } from '../modules/accounts/application/issue-dashboard-token.js';
import { ROLES, type Role } from '../modules/accounts/domain/account.js';
import { CommandGroup } from './command-group.js';
import { idIn, oneOf, operatorContext, print, wholeNumber, WrongInput } from './operator.js';
import { OperatorCommand } from './operator-command.js';

const DEFAULT_HOURS = 8;
const MAX_HOURS = 24 * 366;

interface IssueValues {
  readonly user: string;
  readonly role: Role;
  readonly environment?: Environment;
  readonly hours?: number;
}

@SubCommand({ name: 'issue', arguments: '<account>', description: 'Issue a dashboard token; it is shown this once' })
export class IssueTokenCommand extends OperatorCommand {
  constructor(private readonly commands: CommandBus) {
    super();
  }

  @Option({
    flags: '--user <id>',
    description: 'id of the user, recorded with what the user does; no name, no mail address',
    required: true,
  })
  readUser(text: string): string {
    return text;
  }

  @Option({ flags: '--role <role>', description: ROLES.join(', '), required: true })
  readRole(text: string): Role {
    return oneOf(text, ROLES, '--role');
  }

  @Option({ flags: '--environment <environment>', description: 'test or live; live when not said' })
  readEnvironment(text: string): Environment {
    return oneOf(text, ['test', 'live'], '--environment');
  }

  @Option({ flags: '--hours <number>', description: `how long it is good; ${DEFAULT_HOURS} when not said` })
  readHours(text: string): number {
    return wholeNumber(text, '--hours');
  }

  override async run(
    [account]: string[],
    { user, role, environment = 'live', hours = DEFAULT_HOURS }: IssueValues,
  ): Promise<void> {
    const accountId = idIn(account, 'account');
    if (hours < 1 || hours > MAX_HOURS) throw new WrongInput(`--hours must be from 1 to ${MAX_HOURS}.`);
    print(
      await this.commands.execute(
        new IssueDashboardToken(accountId, user, role, environment, hours * 3_600, operatorContext()),
      ),
    );
  }
}

@Command({ name: 'tokens', description: 'Dashboard tokens', subCommands: [IssueTokenCommand] })
export class TokensCommand extends CommandGroup {}
