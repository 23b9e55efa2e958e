import { Module } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { providedBy } from '../../platform/provided.js';
import { Projections } from '../../platform/subscriptions/declarations.js';
import { recoveryJob } from '../../platform/subscriptions/recovery-job.js';
import { Erasable, Holds } from '../../published/holds.js';
import { DoDeferredErasures, DoDeferredErasuresHandler } from './application/do-deferred-erasures.js';
import { Erasables } from './application/erasables.js';
import { PlaceHoldHandler } from './application/place-hold.js';
import { ReleaseHoldHandler } from './application/release-hold.js';
import { StandingHolds } from './application/standing-holds.js';
import { HeldAccounts, heldAccounts } from './read/held-accounts.js';

/** Legal holds. Each module that destroys keys asks this module first, and provides an Erasable for the erasures that a hold defers. */
@Projections([heldAccounts])
@Module({
  imports: [DiscoveryModule],
  providers: [
    PlaceHoldHandler,
    ReleaseHoldHandler,
    DoDeferredErasuresHandler,
    HeldAccounts,
    {
      provide: Erasables,
      useFactory: (discovery: DiscoveryService) => new Erasables(() => providedBy(discovery, Erasable)),
      inject: [DiscoveryService],
    },
    { provide: Holds, useClass: StandingHolds },
    recoveryJob({
      name: 'deferred-erasures',
      inject: [HeldAccounts],
      due: (now, limit, accounts) => accounts.due(now, limit),
      settle: (accountId) => new DoDeferredErasures(accountId),
    }),
  ],
  exports: [Holds],
})
export class HoldsModule {}
