import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import type { Environment } from '../../../kernel/environment.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { INSTALLATION, vendorRoutes } from '../domain/vendor-routes.js';

/** Stops or restarts all calls to a vendor in these environments. Calls that have already begun go on. */
@UseCase()
export class PauseVendor extends Command<void> {
  constructor(
    readonly wish: {
      readonly kind: 'pause' | 'resume';
      readonly vendor: string;
      readonly environments: readonly Environment[];
    },
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(PauseVendor)
export class PauseVendorHandler implements ICommandHandler<PauseVendor> {
  constructor(private readonly streams: GroupedStream) {}

  async execute({ wish, context }: PauseVendor): Promise<void> {
    await this.streams.execute(vendorRoutes, INSTALLATION, wish, { ...context, accountId: null, environment: null });
  }
}
