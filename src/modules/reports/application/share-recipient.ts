import { Injectable } from '@nestjs/common';
import { isId } from '../../../kernel/ids.js';
import { DomainError, fieldError } from '../../../kernel/domain-error.js';
import { Accounts, type AccountFacts } from '../../../published/accounts.js';
import type { ScreeningFacts } from '../../../published/screenings.js';
import { SessionGrants } from '../../../published/session-grants.js';

/** The recipient, if a request names one. */
export interface NamedRecipient {
  /** The grant of the caller's token. */
  readonly grantId: string | null;
  /** The recipient that the body names; null if none exists. */
  readonly recipientAccountId: string | null;
}

/** Finds the recipient of a consent (docs/contract/platform.md#sharing). */
@Injectable()
export class ShareRecipient {
  constructor(
    private readonly grants: SessionGrants,
    private readonly accounts: Accounts,
  ) {}

  /**
   * The recipient in the server's grant has priority, so that no page can send the report to another account. The grant is the one of the token, or
   * the one of the session.
   * If the grant names no recipient, the page may name one. Without a grant, the named account must be related to the page's own account.
   * If the page names no recipient either, the account that embeds the session is the recipient.
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

  /** The account that a request names. Throws for any other id. */
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
