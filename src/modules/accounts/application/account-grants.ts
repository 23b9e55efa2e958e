import { Injectable } from '@nestjs/common';
import type { ActionContext } from '../../../kernel/context.js';
import { derivedId, isId } from '../../../kernel/ids.js';
import { Handling } from '../../../platform/handling/handling.js';
import { SubjectErased, Vault } from '../../../ports/vault.js';
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

  override async entrustDetails(grantId: string, subjectId: string, context: ActionContext): Promise<void> {
    const state = await this.stateOf(grantId);
    if (state.status === 'unknown' || state.detailsSubject === null || state.entrusted) return;
    const { detailsSubject } = state;
    const details = await unlessErased(this.vault.get(detailsSubject, grantId));
    if (details) await unlessErased(this.vault.put(subjectId, grantId, details));
    if (detailsSubject === detailsSubjectOf(grantId)) await this.vault.erase(detailsSubject);
    // Before, all grants of an account shared a data key.
    else await this.vault.remove(detailsSubject, grantId);
    await this.handling.handle(sessionGrant, grantId, { kind: 'record-entrusted', subjectId }, context);
  }

  private async stateOf(grantId: string): Promise<SessionGrantState> {
    return isId(grantId) ? (await this.handling.load(sessionGrant, grantId)).state : sessionGrant.initial;
  }
}

/** Vault subject of the caller's own words about a session that has not begun: one a grant, so that they can be erased there. */
export function detailsSubjectOf(grantId: string): string {
  return derivedId('session-grant', grantId);
}

/** Null when somebody else was faster: to entrust the details, or to erase the person. */
async function unlessErased<Value>(use: Promise<Value>): Promise<Value | null> {
  try {
    return await use;
  } catch (error) {
    if (error instanceof SubjectErased) return null;
    throw error;
  }
}
