import { Module } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { Config, runs } from '../../config.js';
import { LogWatch } from '../audit/log-watch.js';
import { Log } from '../observability/log.js';
import type { RoleName } from './role-part.js';
import { RoleRunner } from './role-runner.js';

/** Not global, so that Nest ends what runs before it closes what that runs on. */
@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: RoleRunner,
      useFactory: (config: Config, discovery: DiscoveryService, logWatch: LogWatch, log: Log) =>
        new RoleRunner(rolesOf(config), discovery, logWatch, log),
      inject: [Config, DiscoveryService, LogWatch, Log],
    },
  ],
})
export class RolesModule {}

function rolesOf(config: Config): ReadonlySet<RoleName> {
  const named = (['projector', 'api', 'worker'] as const).filter((role) => runs(config, role));
  return new Set<RoleName>(['every-role', ...named]);
}
