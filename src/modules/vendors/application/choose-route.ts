import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { RoutedCapability } from '../../../kernel/vendor-choice.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Accounts } from '../../../published/accounts.js';
import {
  INSTALLATION,
  vendorRoutes,
  wrongRoute,
  type VendorRoute,
  type VendorRoutesState,
} from '../domain/vendor-routes.js';
import { RouteRules } from './route-rules.js';

/** Sets the route of a capability, for the installation or for one account. Without a route, the vendor in an account's settings counts. */
@UseCase()
export class ChooseRoute extends Command<void> {
  constructor(
    readonly wish: {
      readonly capability: RoutedCapability;
      /** Null removes the route. */
      readonly route: VendorRoute | null;
      /** Null: the installation. */
      readonly accountId: string | null;
    },
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(ChooseRoute)
export class ChooseRouteHandler implements ICommandHandler<ChooseRoute> {
  constructor(
    private readonly streams: GroupedStream,
    private readonly accounts: Accounts,
    private readonly rules: RouteRules,
  ) {}

  async execute({ wish: { capability, route, accountId }, context }: ChooseRoute): Promise<void> {
    if (route !== null) this.rules.check(capability, route);
    if (route?.shadow !== undefined) this.rules.checkShadow(capability, route.shadow);
    const change = { [capability]: route ?? undefined };
    const fault = await (accountId === null ? this.faultForAll(change) : this.faultFor(accountId, change));
    if (fault !== null) throw wrongRoute(fault);
    await this.streams.execute(
      vendorRoutes,
      accountId ?? INSTALLATION,
      { kind: 'route', capability, route },
      { ...context, accountId, environment: null },
    );
  }

  private async faultForAll(change: RoutesOf): Promise<string | null> {
    return this.rules.faultOf({}, {}, { ...(await this.routesIn(INSTALLATION)), ...change }, null);
  }

  private async faultFor(accountId: string, change: RoutesOf): Promise<string | null> {
    const account = await this.accounts.find(accountId);
    if (account === null) throw new DomainError('request.not_found', { field: 'account' });
    const own = { ...(await this.routesIn(accountId)), ...change };
    return this.rules.faultOf(account.vendors, own, await this.routesIn(INSTALLATION), accountId);
  }

  private async routesIn(id: string): Promise<RoutesOf> {
    return (await this.streams.load(vendorRoutes, id)).state.routes;
  }
}

type RoutesOf = VendorRoutesState['routes'];
