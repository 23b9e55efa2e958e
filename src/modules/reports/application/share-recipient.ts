import { Injectable } from '@nestjs/common';
import { isId } from '../../../kernel/ids.js';
import { Refusal } from '../../../kernel/refusal.js';
import { Accounts } from '../../../published/accounts.js';
import type { ScreeningFacts } from '../../../published/screenings.js';
import { SessionGrants } from '../../../published/session-grants.js';

/** What a request says about whom the report is shared with. */
export interface NamedRecipient {
  /** The grant of the caller's token. */
  readonly grantId: string | null;
  /** From the body. */
  readonly recipientAccountId: string | null;
}

/** Finds out whom a consent is for (decisions 5.4), the same way when it is given and when it is taken back. */
@Injectable()
export class ShareRecipient {
  constructor(
    private readonly grants: SessionGrants,
    private readonly accounts: Accounts,
  ) {}

  /**
   * The recipient that the server named when it made the grant, of this token or of the one the session was opened with, so
   * that no page can send the report elsewhere; else the page's; else the account that embeds the session.
   */
  async of(session: ScreeningFacts, { grantId, recipientAccountId }: NamedRecipient): Promise<string> {
    const grant = grantId === null ? null : await this.grants.find(grantId);
    const granted = grant?.recipientAccountId ?? session.intendedRecipientId;
    if (granted !== null) return granted;
    if (recipientAccountId === null) return session.accountId;
    if (!isId(recipientAccountId) || !(await this.accounts.find(recipientAccountId))) {
      throw new Refusal('request.invalid', { field: 'recipientAccountId', details: [{ field: 'recipientAccountId', message: 'must be the id of an account' }] });
    }
    return recipientAccountId;
  }
}
