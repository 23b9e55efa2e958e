import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { Handling } from '../../../platform/handling/handling.js';
import { Handles, UseCase } from '../../../platform/handling/use-case.js';
import { share, shareIdOf, type RevokedShare } from '../domain/share.js';
import { ReportAccess, type CallerContext } from './report-access.js';
import { ShareRecipient, type NamedRecipient } from './share-recipient.js';

/** The consumer takes a share back, for good and at once. */
@UseCase()
export class RevokeSharing extends Command<RevokedShare> {
  constructor(
    readonly sessionId: string,
    readonly recipient: NamedRecipient,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(RevokeSharing)
export class RevokeSharingHandler implements ICommandHandler<RevokeSharing> {
  constructor(
    private readonly handling: Handling,
    private readonly access: ReportAccess,
    private readonly recipients: ShareRecipient,
    private readonly clock: Clock,
  ) {}

  async execute({ sessionId, recipient, context }: RevokeSharing): Promise<RevokedShare> {
    const session = await this.access.ownSession(sessionId, context);
    const id = shareIdOf(sessionId, await this.recipients.of(session, recipient));
    const { state } = await this.handling.handle(share, id, { kind: 'revoke', now: this.clock.now() }, context);
    if (state.status !== 'REVOKED') throw new Error(`Share ${id} is not revoked after it was`);
    return state;
  }
}
