import type { ActionContext } from '../kernel/context.js';

/** Accounts pay for reports with prepaid credit, counted in reports (docs/contract/server.md#prepaid-credit). */
export abstract class PrepaidCredit {
  /** What `reserve` would answer now, without a trace. */
  abstract available(accountId: string, reservationId: string): Promise<boolean>;

  /**
   * Sets one report aside, once per `reservationId`: asking again changes nothing and answers the same. False when the
   * balance is used up, then and for good. An account that needs no credit (it is paid through a connected payment account and has no prepaid billing) always may.
   */
  abstract reserve(accountId: string, reservationId: string, context: ActionContext): Promise<boolean>;

  /** The report was released: the reservation becomes a debit. Safe to repeat. */
  abstract debit(accountId: string, reservationId: string, context: ActionContext): Promise<void>;

  /** There is no report after all: the reservation goes back into the balance. Safe to repeat. */
  abstract release(accountId: string, reservationId: string, context: ActionContext): Promise<void>;
}
