// The parts that exist before Nest starts: configuration, vendors, clock, log and metrics. Each root module imports this module first.
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Config } from './config/config.js';
import { ConfigModule } from './config/config.module.js';
import { Clock } from './kernel/clock.js';
import { Health } from './platform/http/health.js';
import { Log } from './platform/observability/log.js';
import { Metrics } from './platform/observability/metrics.js';
import { AccountClock, TestClocks } from './ports/test-clocks.js';
import { Vendors } from './ports/vendors.js';

@Global()
@Module({})
export class ProcessModule {
  static forRoot(config: Config, vendors: Vendors, log: Log, metrics: Metrics): DynamicModule {
    return {
      module: ProcessModule,
      imports: [ConfigModule.forRoot(config)],
      providers: [
        { provide: Vendors, useValue: vendors },
        {
          provide: Clock,
          useFactory: (modules: ModuleRef) => new AccountClock(() => modules.get(TestClocks, { strict: false })),
          inject: [ModuleRef],
        },
        { provide: Log, useValue: log },
        { provide: Metrics, useValue: metrics },
        Health,
      ],
      exports: [Vendors, Clock, Log, Metrics, Health],
    };
  }
}
