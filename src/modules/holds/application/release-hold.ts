import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { accountHolds } from '../domain/account-holds.js';

/** Ends a hold. The erasures that it deferred are done next: see DoDeferredErasures. Safe to repeat. */
@UseCase()
export class ReleaseHold extends Command<void> {
  constructor(
    readonly hold: { readonly accountId: string; readonly holdId: string },
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(ReleaseHold)
export class ReleaseHoldHandler implements ICommandHandler<ReleaseHold> {
  constructor(
    private readonly streams: GroupedStream,
    private readonly clock: Clock,
  ) {}

  async execute({ hold: { accountId, holdId }, context }: ReleaseHold): Promise<void> {
    const command = { kind: 'release', now: this.clock.now(), holdId } as const;
    await this.streams.execute(accountHolds, accountId, command, { ...context, accountId, environment: null });
  }
}
