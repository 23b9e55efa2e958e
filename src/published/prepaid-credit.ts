import type { ActionContext } from '../kernel/context.js';

/**
 * Accounts pay for reports with prepaid credit, which is counted in reports (docs/contract/server.md#prepaid-credit). Each change names the session of
 * the report.
 */
export abstract class PrepaidCredit {
  /** Returns the answer that `reserve` would give now, and records nothing. */
  abstract available(accountId: string, reservationId: string): Promise<boolean>;

  /**
   * Sets one report aside, once for each `reservationId`. A second call changes nothing and gives the same answer. False if the balance is used up;
   * the reservation then stays refused, even if credit is added. Always true for an account that needs no credit: one with a connected payment
   * account and without prepaid billing.
   */
  abstract reserve(
    accountId: string,
    reservationId: string,
    context: ActionContext,
    sessionId: string,
  ): Promise<boolean>;

  /** The report was released: the reservation becomes a debit. Safe to repeat. */
  abstract debit(accountId: string, reservationId: string, context: ActionContext, sessionId: string): Promise<void>;

  /** The session gets no report after all. The reserved report is returned to the balance. Safe to repeat. */
  abstract release(accountId: string, reservationId: string, context: ActionContext, sessionId: string): Promise<void>;
}
