// ops vendors list | show | pause | resume | route | differences: the vendors of the installation, and where new sessions go.
import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Redis } from 'ioredis';
import { Command, Option, SubCommand } from 'nest-commander';
import { BoundedRedis, RedisUnavailable } from '../adapters/redis/bounded-redis.js';
import { kindOf, vendorName } from '../external-calls/call-queues.js';
import { openMark } from '../external-calls/vendor-guard.js';
import { machineTimeOf, type RecordedEvent } from '../kernel/domain-event.js';
import { ENVIRONMENTS, type Environment } from '../kernel/environment.js';
import { CAPABILITIES, ROUTED_CAPABILITIES, type Capability, type RoutedCapability } from '../kernel/vendor-choice.js';
import { ChooseRoute } from '../modules/vendors/application/choose-route.js';
import { PauseVendor } from '../modules/vendors/application/pause-vendor.js';
import {
  INSTALLATION,
  vendorRoutes,
  type VendorRoute,
  type VendorRoutesState,
} from '../modules/vendors/domain/vendor-routes.js';
import { GroupedStream } from '../platform/aggregates/grouped-stream.js';
import { EventStore } from '../ports/event-store.js';
import { Vendors } from '../ports/vendors.js';
import { CommandGroup } from './command-group.js';
import { ConsentedCommand, type ConsentValues } from './consent.js';
import { idIn, NONE, oneOf, operatorContext, wholeNumber, WrongInput } from './operator.js';
import { OperatorCommand } from './operator-command.js';
import { print, printRow, type Row } from './output.js';
import { VendorDifferencesCommand } from './vendor-differences.command.js';

// The commands of a group are the exports of its file.
export { VendorDifferencesCommand };

const REDIS_AWAY_MS = 1_000;
/** The changes of a vendor that `show` prints, the newest first. */
const MOST_CHANGES = 20;

type State = 'ready' | 'paused' | 'open breaker' | 'not set up' | 'unknown';

interface VendorRow extends Row {
  readonly vendor: string;
  readonly capability: Capability;
  readonly environment: Environment;
  readonly state: State;
  readonly certificate: string | null;
  /** Its weight in the route of the installation; null without a route. */
  readonly weight: number | null;
}

/** The facts about vendors that the commands show. */
class VendorFacts {
  private readonly redis: BoundedRedis;

  constructor(
    private readonly streams: GroupedStream,
    private readonly vendors: Vendors,
    redis: Redis,
  ) {
    this.redis = new BoundedRedis(redis, REDIS_AWAY_MS);
  }

  async rows(): Promise<readonly VendorRow[]> {
    const { state } = await this.streams.load(vendorRoutes, INSTALLATION);
    const all = CAPABILITIES.flatMap((capability) =>
      this.vendors
        .having(capability)
        .flatMap((vendor) => ENVIRONMENTS.map((environment) => ({ vendor, capability, environment }))),
    );
    return Promise.all(
      all.map(async (one) => ({
        ...one,
        state: await this.stateOf(one, state.paused),
        certificate: this.vendors.certifiedAs(one.vendor),
        weight: weightOf(one, state.routes),
      })),
    );
  }

  /** The rows of one vendor. */
  async of(vendor: string | undefined): Promise<readonly [VendorRow, ...VendorRow[]]> {
    const [first, ...others] = (await this.rows()).filter((row) => row.vendor === vendor);
    if (first === undefined) throw new WrongInput('There is no such vendor: ops vendors list shows all vendors.');
    return [first, ...others];
  }

  private async stateOf(
    { vendor, capability, environment }: Pick<VendorRow, 'vendor' | 'capability' | 'environment'>,
    paused: VendorRoutesState['paused'],
  ): Promise<State> {
    if (!this.vendors.offering(capability, environment).includes(vendor)) return 'not set up';
    if (paused[environment].includes(vendor)) return 'paused';
    const mark = openMark(vendorName(kindOf(capability), vendor), environment);
    try {
      return (await this.redis.use((redis) => redis.exists(mark))) === 0 ? 'ready' : 'open breaker';
    } catch (error) {
      if (error instanceof RedisUnavailable) return 'unknown';
      throw error;
    }
  }
}

@SubCommand({
  name: 'list',
  description: 'List the vendors with their capabilities, environments, states, certificates and weights',
})
export class ListVendorsCommand extends OperatorCommand {
  private readonly facts: VendorFacts;

  constructor(streams: GroupedStream, vendors: Vendors, redis: Redis) {
    super();
    this.facts = new VendorFacts(streams, vendors, redis);
  }

  override async run(): Promise<void> {
    for (const row of await this.facts.rows()) printRow(row, row);
  }
}

@SubCommand({
  name: 'show',
  arguments: '<vendor>',
  description: `Show a vendor, its limits, the routes to it, and its last ${MOST_CHANGES} changes`,
})
export class ShowVendorCommand extends OperatorCommand {
  private readonly facts: VendorFacts;

  constructor(
    private readonly streams: GroupedStream,
    private readonly vendors: Vendors,
    redis: Redis,
    private readonly events: EventStore,
  ) {
    super();
    this.facts = new VendorFacts(streams, vendors, redis);
  }

  override async run([vendor]: string[]): Promise<void> {
    const rows = await this.facts.of(vendor);
    const [{ vendor: id, certificate }] = rows;
    const { routes } = (await this.streams.load(vendorRoutes, INSTALLATION)).state;
    const stream = await this.events.readStream(`${vendorRoutes.category}-${INSTALLATION}`, {
      direction: 'backwards',
      limit: 1_000,
    });
    const states = rows.map(({ capability, environment, state }) => [`${capability}.${environment}`, state] as const);
    const changes = stream.filter((event) => isAbout(id, event)).slice(0, MOST_CHANGES);
    print({
      vendor: id,
      certificate,
      states: Object.fromEntries(states),
      limits: this.vendors.limitsOf(id),
      routes: Object.fromEntries(Object.entries(routes).filter(([, route]) => leadsTo(id, route))),
      changes: changes.map(changeIn),
    });
  }
}

interface PauseValues extends ConsentValues {
  readonly environment?: Environment;
}

/** `pause` and `resume`, which differ in one word. */
@Injectable()
abstract class SwitchCommand extends ConsentedCommand {
  protected abstract readonly kind: 'pause' | 'resume';
  private readonly facts: VendorFacts;

  constructor(
    private readonly commands: CommandBus,
    streams: GroupedStream,
    vendors: Vendors,
    redis: Redis,
  ) {
    super();
    this.facts = new VendorFacts(streams, vendors, redis);
  }

  @Option({ flags: '--environment <environment>', description: 'test or live; both if not given' })
  readEnvironment(text: string): Environment {
    return oneOf(text, ENVIRONMENTS, '--environment');
  }

  override async run([vendor]: string[], { environment, ...values }: PauseValues): Promise<void> {
    const [{ vendor: id }] = await this.facts.of(vendor);
    const environments = environment === undefined ? ENVIRONMENTS : [environment];
    const wish = { kind: this.kind, vendor: id, environments };
    await this.commands.execute(new PauseVendor(wish, reasonedContext(values)));
    for (const row of await this.facts.of(id)) printRow(row, row);
  }
}

@SubCommand({
  name: 'pause',
  arguments: '<vendor>',
  description: 'Refuse all calls to a vendor; new sessions go to the other vendors of their route',
})
export class PauseVendorCommand extends SwitchCommand {
  protected override readonly kind = 'pause';
}

@SubCommand({ name: 'resume', arguments: '<vendor>', description: 'Let calls to a paused vendor through again' })
export class ResumeVendorCommand extends SwitchCommand {
  protected override readonly kind = 'resume';
}

interface RouteValues extends ConsentValues {
  readonly account?: string;
  readonly fallback?: string;
  readonly shadow?: string;
}

@SubCommand({
  name: 'route',
  arguments: '<capability> <weights...>',
  description: 'Set the shares of new sessions by vendor, such as: identity idv=90 acme=10. none removes the route',
})
export class RouteVendorsCommand extends ConsentedCommand {
  constructor(
    private readonly commands: CommandBus,
    private readonly streams: GroupedStream,
  ) {
    super();
  }

  @Option({ flags: '--account <account>', description: 'only for new sessions of this account' })
  readAccount(text: string): string {
    return idIn(text, 'account');
  }

  @Option({
    flags: '--fallback <vendor>',
    description: 'identity vendor of a person whom the chosen vendor could not take; at most one vendor is tried',
  })
  readFallback(text: string): string {
    return text;
  }

  @Option({
    flags: '--shadow <vendor>',
    description: 'identity vendor that is also called about test persons, so that differences shows its verdicts',
  })
  readShadow(text: string): string {
    return text;
  }

  override async run([named = '', ...words]: string[], values: RouteValues): Promise<void> {
    const capability = oneOf(named, ROUTED_CAPABILITIES, 'The capability');
    const { account: accountId = null, fallback, shadow } = values;
    if (fallback !== undefined && capability !== 'identity')
      throw new WrongInput('--fallback goes with the identity vendors, because only a registration can be repeated.');
    const routed = routeIn(words, fallback ?? null);
    const route = routed === null || shadow === undefined ? routed : { ...routed, shadow };
    await this.commands.execute(new ChooseRoute({ capability, route, accountId }, reasonedContext(values)));
    const { routes } = (await this.streams.load(vendorRoutes, accountId ?? INSTALLATION)).state;
    print({ account: accountId, routes });
  }
}

@Command({
  name: 'vendors',
  description: 'The vendors of the installation, and the routes to them',
  subCommands: [
    ListVendorsCommand,
    ShowVendorCommand,
    PauseVendorCommand,
    ResumeVendorCommand,
    RouteVendorsCommand,
    VendorDifferencesCommand,
  ],
})
export class VendorsCommand extends CommandGroup {}

/** These changes can be undone, so they need no confirmation. They always need a reason, because other operators read it. */
function reasonedContext({ reason, ticket }: ConsentValues): ReturnType<typeof operatorContext> {
  if (reason === undefined) throw new WrongInput('Give the reason of the change: --reason <text>.');
  return operatorContext(reason, ticket);
}

function routeIn(words: readonly string[], fallback: string | null): VendorRoute | null {
  if (words.length === 1 && words[0] === NONE) return null;
  const weights = words.map((word) => {
    const [, vendor, weight] = /^([a-z0-9-]+)=(.+)$/.exec(word) ?? [];
    if (vendor === undefined || weight === undefined)
      throw new WrongInput(`A weight is written <vendor>=<number>, such as idv=90, or ${NONE} to remove the route.`);
    return [vendor, wholeNumber(weight, `The weight of ${vendor}`)] as const;
  });
  const names = weights.map(([vendor]) => vendor);
  if (new Set(names).size < names.length) throw new WrongInput('Each vendor has one weight.');
  return { weights: Object.fromEntries(weights), fallback };
}

function weightOf(
  { vendor, capability }: Pick<VendorRow, 'vendor' | 'capability'>,
  routes: VendorRoutesState['routes'],
): number | null {
  const route = routes[capability as RoutedCapability];
  return route === undefined ? null : (route.weights[vendor] ?? 0);
}

function leadsTo(vendor: string, route: VendorRoute | undefined): boolean {
  return route !== undefined && (vendor in route.weights || [route.fallback, route.shadow].includes(vendor));
}

function isAbout(vendor: string, { data }: RecordedEvent): boolean {
  const {
    vendor: named,
    weights,
    fallback,
    shadow,
  } = data as {
    readonly vendor?: string;
    readonly weights?: object;
    readonly fallback?: string;
    readonly shadow?: string;
  };
  return [named, fallback, shadow].includes(vendor) || (weights !== undefined && vendor in weights);
}

function changeIn({ type, data, metadata }: RecordedEvent): object {
  return {
    at: machineTimeOf(metadata),
    type,
    ...data,
    by: metadata.actor.id,
    reason: metadata.reason ?? null,
    ticket: metadata.ticket,
  };
}
