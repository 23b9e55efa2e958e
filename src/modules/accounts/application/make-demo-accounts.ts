import { isDeepStrictEqual } from 'node:util';
import { Command, CommandBus, type ICommandHandler } from '@nestjs/cqrs';
import { isEmbeddable } from '../../../kernel/embeddable-origin.js';
import type { Environment } from '../../../kernel/environment.js';
import type { JsonObject, JsonValue } from '../../../kernel/json.js';
import { systemContext, type ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { CredentialsFile } from '../../../ports/credentials-file.js';
import { account } from '../domain/account.js';
import { accessKey, type KeyUse } from '../domain/access-key.js';
import { isKey, keyIdIn } from '../domain/key-text.js';
import { AddCredit } from './add-credit.js';
import { AllowOrigins } from './allow-origins.js';
import { DEMO_ACCOUNTS, DEMO_PRODUCT_IDS, demoAccountId, demoOrigins, type DemoAccount } from './demo-accounts.js';
import { DeactivateKey } from './deactivate-key.js';
import { DemoTokens } from './demo-tokens.js';
import { IssueKey } from './issue-key.js';
import { OpenAccount } from './open-account.js';
import { SetSettings } from './set-settings.js';

/** The file's content: JSON as documented in docs/contract/general.md#demo-accounts. */
export type DemoCredentials = JsonObject;

/**
 * Opens the demo accounts and writes their credentials; outside production only. A credential that both the file and the log have is kept, so that a
 * second start issues no new credentials. All other credentials are issued again.
 */
@UseCase()
export class MakeDemoAccounts extends Command<DemoCredentials> {
  constructor(
    readonly request: {
      readonly publicUrl: string;
      readonly embeddedUrl: string;
      readonly sandboxUrl: string | null;
      readonly demoPort: number;
    },
  ) {
    super();
  }
}

/** Origins of earlier starts on other ports stay allowed, up to this number. */
const MAX_ORIGINS = 20;

@Handles(MakeDemoAccounts)
export class MakeDemoAccountsHandler implements ICommandHandler<MakeDemoAccounts> {
  constructor(
    private readonly file: CredentialsFile,
    private readonly commands: CommandBus,
    private readonly aggregates: AggregateStore,
    private readonly tokens: DemoTokens,
  ) {}

  async execute(command: MakeDemoAccounts): Promise<DemoCredentials> {
    const { publicUrl, embeddedUrl, sandboxUrl, demoPort } = command.request;
    const existing = await this.file.read();
    const issued: string[] = [];
    const accounts: Record<string, JsonObject> = {};
    for (const plan of DEMO_ACCOUNTS)
      accounts[plan.name] = await this.make(plan, demoOrigins(publicUrl, demoPort), existing, issued);
    const content: DemoCredentials = { baseUrl: publicUrl, embeddedUrl, sandboxUrl, accounts };
    if (existing !== null) {
      if (!isDeepStrictEqual(existing, content)) await this.file.replace(content);
      return content;
    }
    if (await this.file.create(content)) return content;
    // Another process started at the same time and wrote the file first. The keys in that file are the demo keys.
    for (const keyId of issued) await this.commands.execute(new DeactivateKey(keyId, demoContext()));
    return this.execute(command);
  }

  private async make(
    { name, parent, settings, credits, live }: DemoAccount,
    origins: string[],
    existing: JsonObject | null,
    issued: string[],
  ): Promise<JsonObject> {
    const accountId = demoAccountId(name);
    await this.commands.execute(
      new OpenAccount(
        { accountId, name: `Demo account ${name}`, parentId: parent && demoAccountId(parent), settings },
        demoContext(),
      ),
    );
    await this.giveProducts(accountId);
    if (credits > 0)
      await this.commands.execute(new AddCredit({ accountId, credits, reference: 'demo-accounts' }, demoContext()));
    const known = (field: string): string | null => textAt(existing, 'accounts', name, field);
    const key = async (field: string, environment: Environment, use: KeyUse): Promise<JsonObject> => {
      const kept = await this.stillGood(known(field), accountId, environment, use);
      if (kept !== null) return { [field]: kept };
      const { keyId, key: text } = await this.commands.execute(
        new IssueKey({ accountId, environment, use }, demoContext()),
      );
      issued.push(keyId);
      return { [field]: text };
    };
    const publishable = (allowedOrigins: string[]): KeyUse => ({
      kind: 'publishable',
      allowedOrigins,
      perMinute: null,
    });
    const https = origins.filter((origin) => origin.startsWith('https:'));
    return {
      accountId,
      ...(await key('publishableKey', 'test', publishable(origins))),
      allowedOrigins: origins,
      ...(await key('secretKey', 'test', { kind: 'secret' })),
      ...(await key('apiKey', 'test', { kind: 'api', clientClass: 'partner' })),
      dashboardTokens: await this.tokens.of(
        accountId,
        (role) => textAt(existing, 'accounts', name, 'dashboardTokens', role),
        demoContext(),
      ),
      ...(live.publishable && (await key('livePublishableKey', 'live', publishable(https)))),
      ...(live.secret && (await key('liveSecretKey', 'live', { kind: 'secret' }))),
    };
  }

  private async giveProducts(accountId: string): Promise<void> {
    const { state } = await this.aggregates.load(account, accountId);
    if (state.status === 'open' && state.settings.productIds.length === 0)
      await this.commands.execute(new SetSettings(accountId, { productIds: DEMO_PRODUCT_IDS }, demoContext()));
  }

  /** Returns the key in the file if the log has the same key. If needed, adds to the key's allowed origins first. */
  private async stillGood(
    text: string | null,
    accountId: string,
    environment: Environment,
    wanted: KeyUse,
  ): Promise<string | null> {
    if (text === null) return null;
    const keyId = keyIdIn(wanted.kind, text);
    const { state } = await this.aggregates.load(accessKey, keyId);
    if (state.status !== 'active' || !isKey(text, state.keyHash)) return null;
    if (state.accountId !== accountId || state.environment !== environment || state.use.kind !== wanted.kind)
      return null;
    if (wanted.kind === 'publishable' && state.use.kind === 'publishable') {
      const { allowedOrigins } = state.use;
      if (!wanted.allowedOrigins.every((origin) => allowedOrigins.includes(origin))) {
        const good = [...wanted.allowedOrigins, ...allowedOrigins].filter(isEmbeddable);
        const allowed = [...new Set(good)].slice(0, MAX_ORIGINS);
        await this.commands.execute(new AllowOrigins(keyId, allowed, demoContext()));
      }
    }
    return text;
  }
}

function demoContext(): ActionContext {
  return systemContext('demo-accounts', { accountId: null, environment: null });
}

function textAt(content: JsonObject | null, ...path: readonly string[]): string | null {
  let value: JsonValue | undefined = content;
  for (const part of path)
    value =
      typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject)[part] : undefined;
  return typeof value === 'string' ? value : null;
}
