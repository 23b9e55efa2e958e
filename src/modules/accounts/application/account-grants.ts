import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { isId } from '../../../kernel/ids.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { SessionGrants, type BegunSession, type GrantFacts } from '../../../published/session-grants.js';
import { detailsAwaitedBy, embedderOf, sessionGrant, type SessionGrantState } from '../domain/session-grant.js';
import { GrantDetails } from './grant-details.js';

/** Session grants, for other modules. */
@Injectable()
export class AccountGrants extends SessionGrants {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly details: GrantDetails,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async find(grantId: string): Promise<GrantFacts | null> {
    const state = await this.stateOf(grantId);
    if (state.status === 'unknown') return null;
    const { environment, recipientAccountId, userType } = state;
    const { endUserType = null, purpose = null, applicationFeeCents = null, externalIdHash = null } = state;
    return {
      grantId,
      accountId: embedderOf(state),
      environment,
      recipientAccountId,
      userType,
      endUserType,
      purpose,
      applicationFeeCents,
      externalIdHash,
    };
  }

  override async begin(
    grantId: string,
    sessionId: string,
    replaces: string | null,
    context: ActionContext,
  ): Promise<BegunSession> {
    const { state } = await this.aggregates.execute(
      sessionGrant,
      grantId,
      { kind: 'begin-session', now: this.clock.now(), sessionId, replaces },
      context,
    );
    if (state.status === 'unknown' || state.session === null)
      throw new Error(`No session can begin under grant ${grantId}`);
    return state.session;
  }

  override async moveDetails(grantId: string, subjectId: string, context: ActionContext): Promise<void> {
    const state = await this.stateOf(grantId);
    if (!detailsAwaitedBy(state)) return;
    await this.details.move(grantId, state.detailsSubject, subjectId);
    const { state: recorded } = await this.aggregates.execute(
      sessionGrant,
      grantId,
      { kind: 'record-details-moved', subjectId },
      context,
    );
    // Another request was faster, and has moved the details to another session, or has erased the details of an expired grant.
    if (recorded.status === 'unknown' || recorded.detailsSubject !== subjectId)
      await this.details.erase(grantId, subjectId);
  }

  private async stateOf(grantId: string): Promise<SessionGrantState> {
    return isId(grantId) ? (await this.aggregates.load(sessionGrant, grantId)).state : sessionGrant.initial;
  }
}
