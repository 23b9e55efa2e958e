import { Query, type IQueryHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Clock } from '../../../kernel/clock.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { isOver, share, shareIdOf, type ActiveShare, type RevokedShare } from '../domain/share.js';
import { Accounts } from '../../../published/accounts.js';
import { ReportAccess } from './report-access.js';
import { ShareRecipient } from './share-recipient.js';

/** EXPIRED: the recipient's time has ended. A report in this state, or REVOKED, cannot be shared again. */
export type Sharing = { readonly recipientName: string | null } & SharingState;

type SharingState =
  | { readonly status: 'NOT_SHARED'; readonly recipientAccountId: string }
  | (Omit<ActiveShare, 'status'> & { readonly status: 'SHARED' | 'EXPIRED' })
  | RevokedShare;

/** The state of sharing with the default recipient: the account that a consent of this caller would name. */
@UseCase()
export class ReadSharing extends Query<Sharing> {
  constructor(
    readonly sessionId: string,
    /** The grant of the caller's token. */
    readonly grantId: string | null,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(ReadSharing)
export class ReadSharingHandler implements IQueryHandler<ReadSharing> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly access: ReportAccess,
    private readonly recipients: ShareRecipient,
    private readonly accounts: Accounts,
    private readonly clock: Clock,
  ) {}

  async execute({ sessionId, grantId, context }: ReadSharing): Promise<Sharing> {
    const session = await this.access.ownSession(sessionId, context);
    const recipientAccountId = await this.recipients.of(session, { grantId, recipientAccountId: null });
    const recipient = await this.accounts.find(recipientAccountId);
    return {
      recipientName: recipient?.brand.displayName ?? null,
      ...(await this.stateOf(sessionId, recipientAccountId, await this.clock.of(context))),
    };
  }

  private async stateOf(sessionId: string, recipientAccountId: string, now: Date): Promise<SharingState> {
    const { state } = await this.aggregates.load(share, shareIdOf(sessionId, recipientAccountId));
    switch (state.status) {
      case 'NONE':
        return { status: 'NOT_SHARED', recipientAccountId };
      case 'REVOKED':
        return state;
      case 'SHARED':
        return { ...state, status: isOver(state, now) ? 'EXPIRED' : 'SHARED' };
      default:
        return state satisfies never;
    }
  }
}
