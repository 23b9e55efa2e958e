import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { existing, holdsReply, screeningSession } from '../domain/screening-session.js';
import { SessionSecrets } from './session-secrets.js';

/** Destroys the last reply that the vendor gave in an ended session. Safe to repeat. */
@UseCase()
export class DiscardVendorReply extends Command<void> {
  constructor(readonly sessionId: string) {
    super();
  }
}

@Handles(DiscardVendorReply)
export class DiscardVendorReplyHandler implements ICommandHandler<DiscardVendorReply> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly secrets: SessionSecrets,
  ) {}

  async execute({ sessionId }: DiscardVendorReply): Promise<void> {
    const loaded = await this.aggregates.load(screeningSession, sessionId);
    if (!holdsReply(loaded.state)) return;
    await this.secrets.forgetReply(existing(loaded.state).subjectId, sessionId);
    const context = systemContext('screening-sweep', loaded.owner);
    await this.aggregates.execute(
      screeningSession,
      { id: sessionId, known: loaded },
      { kind: 'record-reply-discarded' },
      context,
    );
  }
}
