import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { healthDueAt, webhookEndpoint } from '../domain/endpoint.js';
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
    private readonly streams: GroupedStream,
    private readonly endpoints: EndpointChanges,
    private readonly clock: Clock,
  ) {}

  async execute({ accountId }: DisableOverdueEndpoint): Promise<void> {
    const owner = { accountId, environment: null };
    const { state } = await this.streams.load(webhookEndpoint, accountId);
    const now = await this.clock.of(owner, healthDueAt(state));
    const context = { ...systemContext('webhook-health', owner), at: now };
    await this.endpoints.execute(accountId, { kind: 'disable-overdue', now }, context);
  }
}
