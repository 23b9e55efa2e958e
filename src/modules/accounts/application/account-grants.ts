import { Injectable } from '@nestjs/common';
import type { ActionContext } from '../../../kernel/context.js';
import { derivedId, isId } from '../../../kernel/ids.js';
import { Handling } from '../../../platform/handling/handling.js';
import { Vault } from '../../../ports/vault.js';
import { SessionGrants, type GrantFacts } from '../../../published/session-grants.js';
import { embedderOf, sessionGrant, type SessionGrantState } from '../domain/session-grant.js';

/** Grants as other modules use them. */
@Injectable()
export class AccountGrants extends SessionGrants {
  constructor(
    private readonly handling: Handling,
    private readonly vault: Vault,
  ) {
    super();
  }

  override async find(grantId: string): Promise<GrantFacts | null> {
    const state = await this.stateOf(grantId);
    if (state.status === 'unknown') return null;
    const { environment, recipientAccountId } = state;
    return { grantId, accountId: embedderOf(state), environment, recipientAccountId };
  }

  override async eraseDetails(grantId: string, context: ActionContext): Promise<void> {
    const state = await this.stateOf(grantId);
    if (state.status === 'unknown' || state.detailsSubject === null) return;
    const { detailsSubject } = state;
    if (detailsSubject === detailsSubjectOf(grantId)) await this.vault.erase(detailsSubject);
    // Before, all grants of an account shared a data key.
    else await this.vault.remove(detailsSubject, grantId);
    await this.handling.handle(sessionGrant, grantId, { kind: 'record-erasure', detailsSubject }, context);
  }

  private async stateOf(grantId: string): Promise<SessionGrantState> {
    return isId(grantId) ? (await this.handling.load(sessionGrant, grantId)).state : sessionGrant.initial;
  }
}

/** Vault subject of the caller's own words about a grant: one a grant, so that they can be erased. */
export function detailsSubjectOf(grantId: string): string {
  return derivedId('session-grant', grantId);
}
