// ops accounts create | show | list | set | credit | certify
import { readFileSync } from 'node:fs';
import { CommandBus } from '@nestjs/cqrs';
import { Command, Option, SubCommand } from 'nest-commander';
import { ProcessSettings } from '../config/process.js';
import { newId } from '../kernel/ids.js';
import { DomainError } from '../kernel/domain-error.js';
import type { Terms } from '../kernel/terms.js';
import { AddCredit } from '../modules/accounts/application/add-credit.js';
import { OpenAccount } from '../modules/accounts/application/open-account.js';
import { SetSettings } from '../modules/accounts/application/set-settings.js';
import { PAYERS, PRODUCTS, type Payer, type Product, type SettingsToSet } from '../modules/accounts/domain/account.js';
import { credit } from '../modules/accounts/domain/credit.js';
import {
  AccountDirectory,
  accountProjection,
  accountsList,
  type FoundAccount,
  readAccount,
} from '../modules/accounts/read/accounts.js';
import { vendorRoutes } from '../modules/vendors/domain/vendor-routes.js';
import { logoType } from '../published/accounts.js';
import { AggregateCache } from '../platform/aggregates/aggregate-cache.js';
import { streamOf } from '../platform/aggregates/decided.js';
import { GroupedStream } from '../platform/aggregates/grouped-stream.js';
import { EventStore } from '../ports/event-store.js';
import type { Cursor } from '../ports/read-models.js';
import { CommandGroup } from './command-group.js';
import { cursorIn, limitIn, tellNext } from './listing.js';
import {
  idIn,
  listIn,
  NONE,
  oneOf,
  operatorContext,
  orNull,
  type OrNone,
  wholeNumber,
  WrongInput,
  yesOrNo,
} from './operator.js';
import { print, printNone, printRow } from './output.js';
import { CertifyAccountCommand } from './certify.command.js';
import { Consent, ConsentedCommand, type ConsentValues } from './consent.js';
import { OperatorCommand, ShowingCommand } from './operator-command.js';
import { OperatorLists } from './operator-lists.js';
import { termsIn } from './terms-file.js';

interface SettingValues {
  readonly fee?: number;
  readonly currency?: string;
  readonly payer?: Payer;
  readonly live?: boolean;
  readonly prepaid?: boolean;
  readonly requirePurpose?: boolean;
  readonly paymentAccount?: string;
  readonly products?: Product[];
  readonly productIds?: number[];
  readonly terms?: OrNone<Terms>;
  readonly support?: OrNone<string>;
  readonly displayName?: OrNone<string>;
  readonly logo?: OrNone<string>;
  readonly privacy?: OrNone<string>;
  readonly perMinute?: OrNone<number>;
  readonly submitsPerMinute?: OrNone<number>;
  readonly applicationFee?: OrNone<number>;
  readonly maxApplicationFee?: OrNone<number>;
  readonly refundAfterDays?: OrNone<number>;
  readonly identityVendor?: OrNone<string>;
  readonly creditVendor?: OrNone<string>;
  readonly incomeVendor?: OrNone<string>;
  readonly bankingVendor?: OrNone<string>;
  readonly paymentVendor?: OrNone<string>;
}

/** The options that `create` and `set` share. */
abstract class SettingOptions extends OperatorCommand {
  @Option({ flags: '--fee <cents>', description: 'the least that a consumer pays for one screening' })
  readFee(text: string): number {
    return wholeNumber(text, '--fee');
  }

  @Option({
    flags: '--currency <code>',
    description: 'lowercase ISO 4217 code of a currency that the payment processor charges',
  })
  readCurrency(text: string): string {
    return text;
  }

  @Option({ flags: '--payer <payer>', description: `who pays for the screening of a consumer: ${PAYERS.join(' or ')}` })
  readPayer(text: string): Payer {
    return oneOf(text, PAYERS, '--payer');
  }

  @Option({ flags: '--live <yes|no>', description: 'whether live traffic may reach the real vendors' })
  readLive(text: string): boolean {
    return yesOrNo(text, '--live');
  }

  @Option({ flags: '--prepaid <yes|no>', description: 'whether it pays by prepaid credit' })
  readPrepaid(text: string): boolean {
    return yesOrNo(text, '--prepaid');
  }

  @Option({
    flags: '--require-purpose <yes|no>',
    description: 'whether every read of a report must name a purpose that it has certified',
  })
  readRequirePurpose(text: string): boolean {
    return yesOrNo(text, '--require-purpose');
  }

  @Option({ flags: '--payment-account <id|none>', description: 'its account at the payment processor' })
  readPaymentAccount(text: string): string {
    return text;
  }

  @Option({ flags: '--products <list>', description: `the kinds of users that it may screen: ${PRODUCTS.join(',')}` })
  readProducts(text: string): Product[] {
    return listIn(text).map((product) => oneOf(product, PRODUCTS, '--products'));
  }

  @Option({
    flags: '--product-ids <list|none>',
    description: 'products of the identity vendor that its pages may name',
  })
  readProductIds(text: string): number[] {
    return text === NONE ? [] : listIn(text).map((id) => wholeNumber(id, '--product-ids'));
  }

  @Option({
    flags: '--terms <file|none>',
    description: 'the text that a person agrees to on its pages',
  })
  readTerms(text: string): OrNone<Terms> {
    return text === NONE ? NONE : termsIn(text, '--terms');
  }

  @Option({
    flags: '--support <contact|none>',
    description: 'contact for help on its pages: a mail address, a phone number or an http or https address',
  })
  readSupport(text: string): string {
    return text;
  }

  @Option({ flags: '--display-name <name|none>', description: 'name on its pages and reports; none: its own name' })
  readDisplayName(text: string): string {
    return text;
  }

  @Option({ flags: '--logo <file|none>', description: 'logo on its pages: a PNG or SVG file of at most 64 kB' })
  readLogo(text: string): string {
    return text === NONE ? NONE : logoIn(text);
  }

  @Option({
    flags: '--privacy <url|none>',
    description: 'https address of its privacy notice, for a link on its pages',
  })
  readPrivacy(text: string): string {
    return text;
  }

  @Option({
    flags: '--application-fee <cents|none>',
    description: 'fixed part of each payment that the platform keeps, even when the page gives another',
  })
  readApplicationFee(text: string): OrNone<number> {
    return text === NONE ? NONE : wholeNumber(text, '--application-fee');
  }

  @Option({
    flags: '--max-application-fee <cents|none>',
    description: 'the most that the platform may keep of each payment',
  })
  readMaxApplicationFee(text: string): OrNone<number> {
    return text === NONE ? NONE : wholeNumber(text, '--max-application-fee');
  }

  @Option({
    flags: '--refund-after-days <days|none>',
    description: 'days from the first refused report to the refund; counts for payments that are opened from now on',
  })
  readRefundAfterDays(text: string): OrNone<number> {
    return text === NONE ? NONE : wholeNumber(text, '--refund-after-days');
  }

  @Option({ flags: '--per-minute <number|none>', description: 'token exchanges a minute for each of its keys' })
  readPerMinute(text: string): OrNone<number> {
    return text === NONE ? NONE : wholeNumber(text, '--per-minute');
  }

  @Option({ flags: '--submits-per-minute <number|none>', description: 'submissions a minute, in each environment' })
  readSubmitsPerMinute(text: string): OrNone<number> {
    return text === NONE ? NONE : wholeNumber(text, '--submits-per-minute');
  }

  @Option({ flags: '--identity-vendor <id|none>', description: 'vendor that verifies the identities of new sessions' })
  readIdentityVendor(text: string): string {
    return text;
  }

  @Option({ flags: '--credit-vendor <id|none>', description: 'vendor of the credit reports of new sessions' })
  readCreditVendor(text: string): string {
    return text;
  }

  @Option({ flags: '--income-vendor <id|none>', description: 'vendor that verifies income in new sessions' })
  readIncomeVendor(text: string): string {
    return text;
  }

  @Option({ flags: '--banking-vendor <id|none>', description: 'income vendor that reads bank transactions' })
  readBankingVendor(text: string): string {
    return text;
  }

  @Option({ flags: '--payment-vendor <id|none>', description: 'payment processor of new payments' })
  readPaymentVendor(text: string): string {
    return text;
  }
}

@SubCommand({ name: 'create', description: 'Open an account' })
export class CreateAccountCommand extends SettingOptions {
  constructor(
    private readonly commands: CommandBus,
    private readonly accounts: AccountDirectory,
    private readonly process: ProcessSettings,
  ) {
    super();
  }

  @Option({ flags: '--name <name>', description: 'name of the company', required: true })
  readName(text: string): string {
    return text;
  }

  @Option({ flags: '--parent <account>', description: 'account that it belongs to' })
  readParent(text: string): string {
    return idIn(text, 'account');
  }

  override async run(
    _: string[],
    { name, parent, ...values }: SettingValues & { name: string; parent?: string },
  ): Promise<void> {
    const accountId = newId();
    const settings = { purposeRequired: this.process.production, ...settingsOf(values) };
    await this.commands.execute(
      new OpenAccount({ accountId, name, parentId: parent ?? null, settings }, operatorContext()),
    );
    print(shown(await existing(this.accounts, accountId)));
  }
}

@SubCommand({
  name: 'set',
  arguments: '<account>',
  description: 'Change the given settings of an account, and keep the others',
})
export class SetAccountCommand extends SettingOptions {
  constructor(
    private readonly commands: CommandBus,
    private readonly accounts: AccountDirectory,
  ) {
    super();
  }

  override async run([account]: string[], values: SettingValues): Promise<void> {
    const accountId = idIn(account, 'account');
    if (Object.keys(values).length === 0)
      throw new WrongInput('Give a setting, such as --fee 3500; --help lists all of them.');
    await this.commands.execute(new SetSettings(accountId, settingsOf(values), operatorContext()));
    print(shown(await existing(this.accounts, accountId)));
  }
}

@SubCommand({
  name: 'show',
  arguments: '<account>',
  description: 'Show an account, its direct children, and its own routes to vendors',
})
export class ShowAccountCommand extends ShowingCommand {
  constructor(
    private readonly events: EventStore,
    private readonly lists: OperatorLists,
  ) {
    super();
  }

  override async run([account]: string[]): Promise<void> {
    const found = await listed(this.events, idIn(account, 'account'));
    const routes = await new AggregateCache(this.events, 0).load(vendorRoutes, streamOf(vendorRoutes, found.accountId));
    print({
      ...shown(found),
      children: await this.lists.idsIn(accountProjection, accountsList(found.accountId)),
      routes: routes.state.routes,
    });
  }
}

interface AccountsValues {
  readonly parent?: string;
  readonly limit?: number;
  readonly cursor?: Cursor;
}

@SubCommand({
  name: 'list',
  description: 'List all accounts, or the direct children of one, in the order of their ids',
})
export class ListAccountsCommand extends ShowingCommand {
  constructor(
    private readonly events: EventStore,
    private readonly lists: OperatorLists,
  ) {
    super();
  }

  @Option({ flags: '--parent <account>' })
  readParent(text: string): string {
    return idIn(text, 'account');
  }

  @Option({ flags: '--limit <number>', description: 'size of the page; all accounts if not given' })
  readLimit(text: string): number {
    return limitIn(text);
  }

  @Option({ flags: '--cursor <cursor>', description: 'the next page, as the page before names it' })
  readCursor(text: string): Cursor {
    return cursorIn(text);
  }

  override async run(_: string[], { parent, limit, cursor }: AccountsValues = {}): Promise<void> {
    const ids = await this.lists.idsIn(accountProjection, accountsList(parent));
    const left = cursor === undefined ? ids : ids.filter((id) => id > cursor.id);
    const page = left.slice(0, limit);
    for (const id of page) {
      const account = await listed(this.events, id);
      const { accountId, name, parentId, provisionedForLive: live, feeCents, currency } = account;
      printRow(shown(account), { accountId, name, live, feeCents, currency, parentId });
    }
    if (page.length === 0) printNone('accounts');
    const last = page.at(-1);
    tellNext(last !== undefined && page.length < left.length ? { sort: '', id: last } : null, ids.length);
  }
}

interface CreditValues extends ConsentValues {
  readonly add?: number;
  readonly reference?: string;
}

@SubCommand({
  name: 'credit',
  arguments: '<account>',
  description: 'Show the prepaid credit of an account, counted in reports, or add to it',
})
export class AccountCreditCommand extends ConsentedCommand {
  constructor(
    private readonly commands: CommandBus,
    private readonly consent: Consent,
    private readonly accounts: AccountDirectory,
    private readonly streams: GroupedStream,
  ) {
    super();
  }

  @Option({ flags: '--add <reports>', description: 'how many reports to add' })
  readAdd(text: string): number {
    return wholeNumber(text, '--add');
  }

  @Option({
    flags: '--reference <text>',
    description:
      'reason of the credit, such as the number of an invoice; a second addition with the same reference adds nothing',
  })
  readReference(text: string): string {
    return text;
  }

  override async run([account]: string[], values: CreditValues): Promise<void> {
    const { add, reference } = values;
    const { accountId } = await existing(this.accounts, idIn(account, 'account'));
    if (add !== undefined) {
      const context = await this.consent.given(values, `add ${add} reports to the credit of the account ${accountId}`);
      await this.commands.execute(new AddCredit({ accountId, credits: add, reference: reference ?? newId() }, context));
    } else if (reference !== undefined) throw new WrongInput('--reference goes with --add.');
    const { state } = await this.streams.load(credit, accountId);
    print({ accountId, balance: state.balance, reserved: state.reserved.length });
  }
}

@Command({
  name: 'accounts',
  description: 'Accounts and their settings',
  subCommands: [
    CreateAccountCommand,
    ShowAccountCommand,
    ListAccountsCommand,
    SetAccountCommand,
    AccountCreditCommand,
    CertifyAccountCommand,
  ],
})
export class AccountsCommand extends CommandGroup {}

export { CertifyAccountCommand };

async function existing(accounts: AccountDirectory, accountId: string): Promise<FoundAccount> {
  const account = await accounts.read(accountId);
  if (account === null) throw new DomainError('request.not_found', { field: 'account' });
  return account;
}

/** The command shows the size of the logo instead of the logo. */
function shown({ brand, ...account }: FoundAccount): object {
  const logo =
    brand.logo &&
    `${logoType(brand.logo) === 'image/png' ? 'PNG' : 'SVG'} of ${Buffer.from(brand.logo, 'base64').length} bytes`;
  return { ...account, brand: { ...brand, logo } };
}

/** In base64. The account's decider checks the picture. */
function logoIn(path: string): string {
  try {
    return readFileSync(path).toString('base64');
  } catch (error) {
    throw new WrongInput(`The file of --logo cannot be read: ${(error as Error).message}.`);
  }
}

async function listed(events: EventStore, accountId: string): Promise<FoundAccount> {
  const account = await readAccount(events, accountId);
  if (account === null) throw new DomainError('request.not_found', { field: 'account' });
  return account;
}

function settingsOf(values: SettingValues): SettingsToSet {
  const {
    fee,
    currency,
    payer,
    live,
    prepaid,
    requirePurpose,
    paymentAccount,
    products,
    productIds,
    terms,
    support,
    displayName,
    logo,
    privacy,
    perMinute,
    submitsPerMinute,
    applicationFee,
    maxApplicationFee,
    refundAfterDays,
    identityVendor: identity,
    creditVendor: credit,
    incomeVendor: income,
    bankingVendor: banking,
    paymentVendor: payment,
  } = values;
  return {
    ...given({
      feeCents: fee,
      currency,
      payer,
      provisionedForLive: live,
      prepaidBilling: prepaid,
      purposeRequired: requirePurpose,
      products,
      productIds,
    }),
    ...cleared({
      connectedPaymentAccount: paymentAccount,
      terms,
      supportContact: support,
      applicationFeeCents: applicationFee,
      maxApplicationFeeCents: maxApplicationFee,
      refundAfterDays,
      exchangesPerMinute: perMinute,
      submitsPerMinute,
    }),
    brand: cleared({ displayName, logo, privacyUrl: privacy }),
    vendors: cleared({ identity, credit, income, banking, payment }),
  };
}

type Given<Values> = { readonly [Name in keyof Values]?: Exclude<Values[Name], undefined> };

/** Removes the options that the command line does not have. */
function given<Values extends object>(values: Values): Given<Values> {
  const entries = (Object.entries(values) as [string, unknown][]).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Given<Values>;
}

type Cleared<Values> = { readonly [Name in keyof Values]: Exclude<Values[Name], typeof NONE> | null };

/** Removes absent options, and turns options that the operator clears into null. */
function cleared<Values extends object>(values: Values): Given<Cleared<Values>> {
  const entries = Object.entries<unknown>(given(values)).map(([name, value]) => [name, orNull(value)]);
  return Object.fromEntries(entries) as Given<Cleared<Values>>;
}
