// ops keys issue | list | set | deactivate
import { CommandBus } from '@nestjs/cqrs';
import { Command, Option, SubCommand } from 'nest-commander';
import type { Environment } from '../kernel/environment.js';
import { DomainError } from '../kernel/domain-error.js';
import { AllowOrigins } from '../modules/accounts/application/allow-origins.js';
import { DeactivateKey } from '../modules/accounts/application/deactivate-key.js';
import { IssueKey } from '../modules/accounts/application/issue-key.js';
import { LimitExchanges } from '../modules/accounts/application/limit-exchanges.js';
import {
  CLIENT_CLASSES,
  KEY_KINDS,
  type ClientClass,
  type KeyKind,
  type KeyUse,
} from '../modules/accounts/domain/access-key.js';
import {
  AccessKeyDirectory,
  accessKeyProjection,
  keysOfAccount,
  type ListedKey,
} from '../modules/accounts/read/access-keys.js';
import { ReadModels } from '../ports/read-models.js';
import { CommandGroup } from './command-group.js';
import { idIn, listIn, NONE, oneOf, orNull, type OrNone, wholeNumber, WrongInput } from './operator.js';
import { print, printNone, printRow } from './output.js';
import { ShowingCommand } from './operator-command.js';
import { OperatorLists } from './operator-lists.js';
import { Consent, ConsentedCommand, type ConsentValues } from './consent.js';

interface PublishableValues extends ConsentValues {
  readonly origins?: string[];
  readonly perMinute?: OrNone<number>;
}

interface IssueValues extends PublishableValues {
  readonly kind: KeyKind;
  readonly environment: Environment;
  readonly clientClass?: ClientClass;
}

/** The options of publishable keys. */
abstract class PublishableOptions extends ConsentedCommand {
  @Option({ flags: '--origins <list>', description: 'origins of the pages that may use a publishable key' })
  readOrigins(text: string): string[] {
    return listIn(text);
  }

  @Option({ flags: '--per-minute <number|none>', description: 'token exchanges a minute of a publishable key' })
  readPerMinute(text: string): OrNone<number> {
    return text === NONE ? NONE : wholeNumber(text, '--per-minute');
  }
}

@SubCommand({ name: 'issue', arguments: '<account>', description: 'Issue a key, which is shown only this once' })
export class IssueKeyCommand extends PublishableOptions {
  constructor(
    private readonly commands: CommandBus,
    private readonly consent: Consent,
  ) {
    super();
  }

  @Option({ flags: '--kind <kind>', description: KEY_KINDS.join(', '), required: true })
  readKind(text: string): KeyKind {
    return oneOf(text, KEY_KINDS, '--kind');
  }

  @Option({ flags: '--environment <environment>', description: 'test or live', required: true })
  readEnvironment(text: string): Environment {
    return oneOf(text, ['test', 'live'], '--environment');
  }

  @Option({ flags: '--client-class <class>', description: `only for an API key: ${CLIENT_CLASSES.join(' or ')}` })
  readClientClass(text: string): ClientClass {
    return oneOf(text, CLIENT_CLASSES, '--client-class');
  }

  override async run([account]: string[], values: IssueValues): Promise<void> {
    const accountId = idIn(account, 'account');
    const { kind, environment } = values;
    const use = useOf(values);
    const context = await this.consent.given(values, `issue a ${environment} ${kind} key of the account ${accountId}`);
    const { keyId, key } = await this.commands.execute(new IssueKey({ accountId, environment, use }, context));
    print({ keyId, accountId, kind, environment, key });
  }
}

@SubCommand({
  name: 'list',
  arguments: '<account>',
  description: 'List the keys of an account, without the keys themselves',
})
export class ListKeysCommand extends ShowingCommand {
  constructor(
    private readonly readModels: ReadModels,
    private readonly lists: OperatorLists,
  ) {
    super();
  }

  override async run([account]: string[]): Promise<void> {
    const ids = await this.lists.idsIn(accessKeyProjection, keysOfAccount(idIn(account, 'account')));
    if (ids.length === 0) printNone('keys');
    for (const keyId of ids) {
      const key = await this.readModels.get(accessKeyProjection, keyId);
      if (key === null) continue;
      const { status, environment, use } = key.doc;
      printRow(shown({ keyId, ...key.doc }), { keyId, environment, kind: use.kind, status });
    }
  }
}

@SubCommand({
  name: 'set',
  arguments: '<key>',
  description: 'Set the origins or the limit of a publishable key, by its id',
})
export class SetKeyCommand extends PublishableOptions {
  constructor(
    private readonly commands: CommandBus,
    private readonly consent: Consent,
    private readonly keys: AccessKeyDirectory,
  ) {
    super();
  }

  override async run([key]: string[], values: PublishableValues): Promise<void> {
    const { origins, perMinute } = values;
    const keyId = idIn(key, 'key');
    if (origins === undefined && perMinute === undefined) throw new WrongInput('Give --origins or --per-minute.');
    const context = await this.consent.given(values, `change the key ${keyId}`);
    if (origins !== undefined) await this.commands.execute(new AllowOrigins(keyId, origins, context));
    if (perMinute !== undefined) await this.commands.execute(new LimitExchanges(keyId, orNull(perMinute), context));
    print(shown(await existing(this.keys, keyId)));
  }
}

@SubCommand({ name: 'deactivate', arguments: '<key>', description: 'Deactivate a key for good, by its id' })
export class DeactivateKeyCommand extends ConsentedCommand {
  constructor(
    private readonly commands: CommandBus,
    private readonly consent: Consent,
    private readonly keys: AccessKeyDirectory,
  ) {
    super();
  }

  override async run([key]: string[], values: ConsentValues = {}): Promise<void> {
    const keyId = idIn(key, 'key');
    const context = await this.consent.given(values, `deactivate the key ${keyId} for good`);
    await this.commands.execute(new DeactivateKey(keyId, context));
    print(shown(await existing(this.keys, keyId)));
  }
}

@Command({
  name: 'keys',
  description: 'Access keys of accounts',
  subCommands: [IssueKeyCommand, ListKeysCommand, SetKeyCommand, DeactivateKeyCommand],
})
export class KeysCommand extends CommandGroup {}

async function existing(keys: AccessKeyDirectory, keyId: string): Promise<ListedKey> {
  const key = await keys.read(keyId);
  if (key === null) throw new DomainError('request.not_found', { field: 'key' });
  return key;
}

/** Omits the hash, because an operator cannot use it. */
function shown({ keyId, accountId, environment, status, use }: ListedKey): object {
  return { keyId, accountId, environment, status, ...use };
}

function useOf({ kind, origins, perMinute, clientClass }: IssueValues): KeyUse {
  if (kind !== 'publishable' && (origins !== undefined || perMinute !== undefined))
    throw new WrongInput('Only publishable keys have --origins and --per-minute.');
  if (kind !== 'api' && clientClass !== undefined) throw new WrongInput('Only API keys have a --client-class.');
  switch (kind) {
    case 'publishable':
      if (origins === undefined)
        throw new WrongInput('A publishable key needs --origins, such as https://app.example.com.');
      return { kind, allowedOrigins: origins, perMinute: orNull(perMinute ?? NONE) };
    case 'secret':
      return { kind };
    case 'api':
      return { kind, clientClass: clientClass ?? 'partner' };
    default:
      return kind satisfies never;
  }
}
