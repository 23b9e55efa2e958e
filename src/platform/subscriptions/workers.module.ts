// The event handlers and recovery jobs that the feature modules declare. Every process has the handlers, because inline handlers run in the process
// that appended their event. Workers run handlers when the log has new events, and jobs when they are due.
import { Module, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, ModuleRef } from '@nestjs/core';
import { Limits } from '../../config/limits.js';
import { ProjectionStore } from '../../ports/projection-store.js';
import { Scheduler } from '../../ports/scheduler.js';
import { providedBy } from '../provided.js';
import { rolePart } from '../roles/role-part.js';
import { declaredIn, EventHandlers, Projections } from './declarations.js';
import { EventProcessor } from './event-processor.js';
import { RecoveryJob, scheduleRecovery } from './recovery-job.js';

const RETENTION_EVERY_MS = 3_600_000;

@Module({
  imports: [DiscoveryModule],
  providers: [
    rolePart('worker', EventProcessor, (processor) => ({
      prepare: () => processor.forgetForeignPlaces(),
      start: () => processor.start(),
      stop: () => processor.stop(),
    })),
    rolePart('worker', Scheduler),
  ],
})
export class WorkersModule implements OnModuleInit {
  constructor(
    private readonly processor: EventProcessor,
    private readonly scheduler: Scheduler,
    private readonly discovery: DiscoveryService,
    private readonly modules: ModuleRef,
    private readonly limits: Limits,
    private readonly projections: ProjectionStore,
  ) {}

  onModuleInit(): void {
    for (const handler of declaredIn(this.discovery, EventHandlers))
      this.processor.on(this.modules.get(handler, { strict: false }));
    this.scheduler.every('read-model-retention', RETENTION_EVERY_MS, async () => {
      for (const projection of declaredIn(this.discovery, Projections))
        await this.projections.letOldEntriesLeave(projection);
    });
    scheduleRecovery(this.scheduler, this.limits.recoveryInterval * 1_000, providedBy(this.discovery, RecoveryJob));
  }
}
