import { type InjectionToken, Module } from '@nestjs/common';
import { ProcessSettings } from '../../config/process.js';
import { GroupedStream } from '../../platform/aggregates/grouped-stream.js';
import { rolePart, type Startable } from '../../platform/roles/role-part.js';
import { VendorPauses } from '../../ports/vendor-pauses.js';
import { VendorRoutes } from '../../published/vendor-routes.js';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ChooseRouteHandler } from './application/choose-route.js';
import { PauseVendorHandler } from './application/pause-vendor.js';
import { RouteOptions, RouteRules } from './application/route-rules.js';
import { VendorRouting } from './application/vendor-routing.js';
import { INSTALLATION, vendorRoutes } from './domain/vendor-routes.js';

const ROUTES_FIT: InjectionToken<Startable> = Symbol('vendor routes');

/** The routes of new sessions to vendors, and the pauses of vendors. */
@Module({
  imports: [AccountsModule],
  providers: [
    ChooseRouteHandler,
    PauseVendorHandler,
    RouteRules,
    VendorRouting,
    { provide: VendorRoutes, useExisting: VendorRouting },
    { provide: VendorPauses, useExisting: VendorRouting },
    {
      provide: RouteOptions,
      useFactory: ({ production }: ProcessSettings): RouteOptions => ({ production }),
      inject: [ProcessSettings],
    },
    {
      provide: ROUTES_FIT,
      /** The vendors may have changed since the operator set the routes. A person would pay, and would never get the report. */
      useFactory: ({ readOnly }: ProcessSettings, streams: GroupedStream, rules: RouteRules): Startable => ({
        start: async () => {
          if (readOnly) return;
          const { routes } = (await streams.load(vendorRoutes, INSTALLATION)).state;
          const fault = rules.faultOf({}, {}, routes, null);
          if (fault !== null) throw new Error(fault);
        },
      }),
      inject: [ProcessSettings, GroupedStream, RouteRules],
    },
    rolePart<Startable>('api', ROUTES_FIT),
  ],
  exports: [VendorRoutes, VendorPauses],
})
export class RoutingModule {}
