import { Injectable } from '@nestjs/common';
import { isId } from '../../../kernel/ids.js';
import { DomainError, fieldError } from '../../../kernel/domain-error.js';
import { Accounts, type AccountFacts } from '../../../published/accounts.js';
import type { ScreeningFacts } from '../../../published/screenings.js';
import { SessionGrants } from '../../../published/session-grants.js';

/** What a request says about whom the report is shared with. */
export interface NamedRecipient {
  /** The grant of the caller's token. */
  readonly grantId: string | null;
  /** From the body. */
  readonly recipientAccountId: string | null;
}

/** Finds out whom a consent is for (docs/contract/platform.md#sharing). */
@Injectable()
export class ShareRecipient {
  constructor(
    private readonly grants: SessionGrants,
    private readonly accounts: Accounts,
  ) {}

  /**
   * The recipient that the server named when it made the grant, of this token or of the one the session was opened with, so
   * that no page can send the report elsewhere; else the page's, which without a grant is one of the account's relations; else the account that embeds the session.
   */
  async of(session: ScreeningFacts, { grantId, recipientAccountId }: NamedRecipient): Promise<string> {
    const grant = grantId === null ? null : await this.grants.find(grantId);
    const granted = grant?.recipientAccountId ?? session.intendedRecipientId;
    if (granted !== null) return granted;
    if (recipientAccountId === null) return session.accountId;
    const recipient = await this.named(recipientAccountId);
    if (grant === null && !(await this.isRelated(session.accountId, recipient)))
      throw new DomainError('request.forbidden');
    return recipientAccountId;
  }

  /** An account that a request names; anything else is refused. */
  async named(recipientAccountId: string): Promise<AccountFacts> {
    const recipient = isId(recipientAccountId) ? await this.accounts.find(recipientAccountId) : null;
    if (!recipient) throw fieldError('request.invalid', 'share.recipient', 'must be the id of an account');
    return recipient;
  }

  /** The embedding account, its parent or a direct child (docs/contract/platform.md#sharing). */
  private async isRelated(accountId: string, recipient: AccountFacts): Promise<boolean> {
    return (
      recipient.accountId === accountId ||
      recipient.parentId === accountId ||
      (await this.accounts.find(accountId))?.parentId === recipient.accountId
    );
  }
}
