import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { EndpointChanges } from './endpoint-changes.js';

/** Disables an account's failing endpoint when its time has passed. Does nothing before. */
@UseCase()
export class DisableOverdueEndpoint extends Command<void> {
  constructor(readonly accountId: string) {
    super();
  }
}

@Handles(DisableOverdueEndpoint)
export class DisableOverdueEndpointHandler implements ICommandHandler<DisableOverdueEndpoint> {
  constructor(
    private readonly endpoints: EndpointChanges,
    private readonly clock: Clock,
  ) {}

  async execute({ accountId }: DisableOverdueEndpoint): Promise<void> {
    const context = systemContext('webhook-health', { accountId, environment: null });
    await this.endpoints.execute(accountId, { kind: 'disable-overdue', now: this.clock.now() }, context);
  }
}
