import { Module } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { ProcessSettings, runs } from '../../config/process.js';
import { LogWatch } from '../audit/log-watch.js';
import { Log } from '../observability/log.js';
import type { RoleName } from './role-part.js';
import { RoleRunner } from './role-runner.js';

/** The module is not global, so that Nest ends the running parts before it closes their resources. */
@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: RoleRunner,
      useFactory: (process: ProcessSettings, discovery: DiscoveryService, logWatch: LogWatch, log: Log) =>
        new RoleRunner(rolesOf(process), discovery, logWatch, log),
      inject: [ProcessSettings, DiscoveryService, LogWatch, Log],
    },
  ],
})
export class RolesModule {}

function rolesOf(process: ProcessSettings): ReadonlySet<RoleName> {
  const named = (['projector', 'api', 'worker'] as const).filter((role) => runs(process, role));
  return new Set<RoleName>(['every-role', ...named]);
}
