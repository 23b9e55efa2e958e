import { Injectable } from '@nestjs/common';
import type { ActionContext } from '../../../kernel/context.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Accounts } from '../../../published/accounts.js';
import { PrepaidCredit } from '../../../published/prepaid-credit.js';
import { credit, isAvailable, needsCredit, wasReserved } from '../domain/credit.js';

/**
 * The credit of accounts, for other modules. Only a reservation checks whether the account needs credit. Debit and release do not check it, so that a
 * change in the account's agreement leaves no reservation open.
 */
@Injectable()
export class AccountCredit extends PrepaidCredit {
  constructor(
    private readonly streams: GroupedStream,
    private readonly accounts: Accounts,
  ) {
    super();
  }

  override async available(accountId: string, reservationId: string): Promise<boolean> {
    if (!(await this.isNeeded(accountId))) return true;
    const { state } = await this.streams.load(credit, accountId);
    return isAvailable(state, reservationId);
  }

  override async reserve(
    accountId: string,
    reservationId: string,
    context: ActionContext,
    sessionId: string,
  ): Promise<boolean> {
    if (!(await this.isNeeded(accountId))) return true;
    const { state } = await this.streams.execute(
      credit,
      accountId,
      { kind: 'reserve', reservationId, sessionId },
      { ...context, accountId },
    );
    return wasReserved(state, reservationId);
  }

  override async debit(
    accountId: string,
    reservationId: string,
    context: ActionContext,
    sessionId: string,
  ): Promise<void> {
    const command = { kind: 'debit', reservationId, sessionId } as const;
    await this.streams.execute(credit, accountId, command, { ...context, accountId });
  }

  override async release(
    accountId: string,
    reservationId: string,
    context: ActionContext,
    sessionId: string,
  ): Promise<void> {
    const command = { kind: 'release', reservationId, sessionId } as const;
    await this.streams.execute(credit, accountId, command, { ...context, accountId });
  }

  private async isNeeded(accountId: string): Promise<boolean> {
    const account = await this.accounts.find(accountId);
    return account === null || needsCredit(account);
  }
}
