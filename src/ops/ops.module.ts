// The operator command line. A command loads its own group, imports the modules that it needs, and opens nothing else.
import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { InjectCommander } from 'nest-commander';
import { CommandMeta } from 'nest-commander/src/constants.js';
import type { Config } from '../config/config.js';
import { Clock } from '../kernel/clock.js';
import type { Log } from '../platform/observability/log.js';
import { Metrics } from '../platform/observability/metrics.js';
import { ProcessModule } from '../process.module.js';
import type { VendorRegistry } from '../vendor-kit/registry.js';
import { CommandGroup } from './command-group.js';
import { Consent } from './consent.js';
import {
  accounts,
  deliveryQueue,
  features,
  type Imports,
  logAlone,
  payments,
  persons,
  projector,
  readModels,
  vault,
  vendors,
} from './imports.js';
import { OperatorCommand, ShowingCommand } from './operator-command.js';
import { OperatorLists } from './operator-lists.js';
import { OperatorRecord } from './operator-record.js';

interface Started {
  readonly config: Config;
  readonly vendors: VendorRegistry;
  readonly log: Log;
}

interface Needs {
  readonly imports: () => Promise<Imports>;
  readonly providers?: (started: Started) => Promise<readonly Provider[]>;
}

interface Group extends Needs {
  /** The file of the group. Every command that it exports belongs to the group. */
  readonly load: () => Promise<object>;
  /** The group's commands that only show something. They start without the modules of the others. */
  readonly showing?: readonly string[];
  /** The modules of these commands, if not `readModels`. */
  readonly shownFrom?: () => Promise<Imports>;
}

const LISTS: Pick<Needs, 'providers'> = { providers: () => Promise.resolve([OperatorLists]) };

/** The groups of commands, by the first word of a command. */
const GROUPS: Readonly<Record<string, Group>> = {
  // This group imports no module, because the target folder of a restore must stay empty.
  backup: {
    load: () => import('./backup.commands.js'),
    imports: () => Promise.resolve([]),
    providers: async ({ config }) => {
      const { Backups } = await import('./backups.js');
      return [{ provide: Backups, useFactory: (clock: Clock) => new Backups(config, clock), inject: [Clock] }];
    },
  },
  stream: {
    load: () => import('./stream.commands.js'),
    imports: logAlone,
    providers: () => Promise.resolve([OperatorRecord]),
  },
  log: { load: () => import('./log.commands.js'), imports: logAlone },
  audit: {
    load: () => import('./audit.commands.js'),
    imports: vault,
    providers: async () => [(await import('./sealed-tree.js')).SealedTree],
  },
  vault: { load: () => import('./vault.commands.js'), imports: vault },
  timeline: {
    load: () => import('./timeline.command.js'),
    imports: readModels,
    providers: () => Promise.resolve([OperatorLists, OperatorRecord]),
  },
  case: {
    load: () => import('./case.commands.js'),
    imports: readModels,
    providers: async () => [OperatorLists, OperatorRecord, (await import('./case-export.js')).CaseExport],
  },
  accounts: {
    load: () => import('./accounts.commands.js'),
    imports: accounts,
    ...LISTS,
    showing: ['list', 'show'],
  },
  keys: { load: () => import('./keys.commands.js'), imports: accounts, ...LISTS, showing: ['list'] },
  vendors: { load: () => import('./vendors.commands.js'), imports: vendors },
  screenings: {
    load: () => import('./screenings.commands.js'),
    imports: readModels,
    providers: async () => [
      OperatorLists,
      OperatorRecord,
      (await import('../modules/screening/read/screening-lists.js')).ScreeningLists,
    ],
  },
  cases: {
    load: () => import('./cases.commands.js'),
    imports: readModels,
    providers: async () => [
      OperatorLists,
      OperatorRecord,
      (await import('./case-search.js')).CaseSearch,
      (await import('../modules/screening/read/screening-lists.js')).ScreeningLists,
    ],
  },
  tokens: { load: () => import('./tokens.commands.js'), imports: accounts, ...LISTS },
  person: { load: () => import('./person.commands.js'), imports: persons },
  hold: {
    load: () => import('./hold.commands.js'),
    imports: features,
    providers: async () => [OperatorLists, (await import('./operator-approvals.js')).OperatorApprovals],
  },
  payments: {
    load: () => import('./payments.commands.js'),
    imports: payments,
    providers: async () => [OperatorLists, (await import('../modules/payments/read/payment-lists.js')).PaymentLists],
    showing: ['list'],
  },
  webhooks: {
    load: () => import('./webhooks.commands.js'),
    imports: features,
    showing: ['backlog'],
    shownFrom: deliveryQueue,
  },
  endpoints: {
    load: () => import('./endpoints.commands.js'),
    imports: readModels,
    providers: async () => [OperatorLists, ...(await import('./webhook-readers.js')).WEBHOOK_READERS],
  },
  deliveries: {
    load: () => import('./deliveries.commands.js'),
    imports: readModels,
    providers: async () => [OperatorLists, ...(await import('./webhook-readers.js')).WEBHOOK_READERS],
  },
  requests: {
    load: () => import('./requests.commands.js'),
    imports: readModels,
    providers: async () => [
      OperatorLists,
      (await import('../modules/accounts/read/recent-requests.js')).RecentRequests,
    ],
  },
  operators: {
    load: () => import('./operators.commands.js'),
    imports: logAlone,
    providers: async () => [(await import('./operator-approvals.js')).OperatorApprovals],
  },
  projections: { load: () => import('./projections.commands.js'), imports: projector },
};

/** Modules that ask the vendors of the installation. */
const WITH_VENDORS: ReadonlySet<Needs['imports']> = new Set([
  accounts,
  vendors,
  payments,
  persons,
  features,
  projector,
]);

/** The commands of one command line, and the parts that they need. */
export interface Chosen {
  readonly groups: readonly Group[];
  readonly showing: boolean;
  readonly vendors: boolean;
}

/** Words that name no group get the commands of all groups, so that the help can list them. */
export function chosenBy([name = '', command = '']: readonly string[]): Chosen {
  const group = Object.hasOwn(GROUPS, name) ? GROUPS[name] : undefined;
  const groups = group === undefined ? Object.values(GROUPS) : [group];
  const showing = group?.showing?.includes(command) === true;
  return { groups, showing, vendors: !showing && groups.some(({ imports }) => WITH_VENDORS.has(imports)) };
}

export async function allCommands(): Promise<readonly Type[]> {
  return (await Promise.all(Object.values(GROUPS).map((group) => commandsOf(group)))).flat();
}

@Module({})
export class OpsModule {
  /** Names the program, because the help would otherwise show the name of its file. */
  constructor(@InjectCommander() program: { name(text: string): unknown }) {
    program.name('ops');
  }

  static async forRoot({ groups, showing }: Chosen, started: Started): Promise<DynamicModule> {
    const imports = new Set<Imports[number]>();
    const providers = new Set<Provider>([Consent]);
    for (const group of groups) {
      const { shownFrom = readModels } = group;
      for (const one of await (showing ? shownFrom() : group.imports())) imports.add(one);
      for (const one of (await group.providers?.(started)) ?? []) providers.add(one);
      for (const one of await commandsOf(group, showing)) providers.add(one);
    }
    const { config, vendors: registry, log } = started;
    return {
      module: OpsModule,
      imports: [ProcessModule.forRoot(config, registry, log, new Metrics()), ...imports],
      providers: [...providers],
    };
  }
}

/** The help lists commands in the order of their group. */
async function commandsOf({ load }: Group, showing = false): Promise<readonly Type[]> {
  const kinds = [CommandGroup, showing ? ShowingCommand : OperatorCommand];
  const found = Object.values((await load()) as Readonly<Record<string, Type | undefined>>).filter(
    (exported): exported is Type => kinds.some((kind) => (exported?.prototype as unknown) instanceof kind),
  );
  const order: readonly Type[] = found.flatMap((type) => subCommandsOf(type));
  return found.sort((one, other) => order.indexOf(one) - order.indexOf(other));
}

function subCommandsOf(type: Type): readonly Type[] {
  const declared = Reflect.getMetadata(CommandMeta, type) as { readonly subCommands?: readonly Type[] } | undefined;
  return declared?.subCommands ?? [];
}
