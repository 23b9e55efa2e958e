import type { Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { wrong } from './account.js';

/** `sessionId`: the session of the report. Absent in older events. */
interface OfReport {
  readonly reservationId: string;
  readonly sessionId?: string;
}

export type CreditCommand =
  | { readonly kind: 'add'; readonly credits: number; readonly reference: string }
  | (OfReport & { readonly kind: 'reserve' })
  | (OfReport & { readonly kind: 'debit' })
  | (OfReport & { readonly kind: 'release' });

export type CreditEvent =
  | DomainEvent<'CreditAdded', { readonly credits: number; readonly reference: string }>
  | DomainEvent<'CreditReserved', OfReport>
  /** The account had no credit left for the report. The reservation stays refused, even if credit is added later. */
  | DomainEvent<'CreditRefused', OfReport>
  | DomainEvent<'CreditDebited', OfReport>
  | DomainEvent<'CreditReleased', OfReport>;

export interface Credit {
  /** The number of reports that may still be set aside: added credit, less debited and reserved reports. */
  readonly balance: number;
  /** The reservations that are neither debited nor released. */
  readonly reserved: readonly string[];
  /** The reservations that were last debited or released, oldest first. */
  readonly settled: readonly string[];
  /** The reservations that were last refused, oldest first. */
  readonly refused: readonly string[];
  /** The latest additions, oldest first. */
  readonly added: readonly { readonly reference: string; readonly credits: number }[];
}

/**
 * The number of settled and refused reservations, and of additions, that the state remembers to recognise repeats. Far fewer reservations are ever
 * open at once.
 */
const REMEMBERED = 1_000;
const MAX_CREDITS = 10_000_000;

/**
 * The prepaid credit of an account, counted in whole reports (docs/contract/server.md#prepaid-credit). The stream has the account's id. Every command
 * may be repeated. A reservation is made or refused once. If a late repeat made a settled reservation again, it would stay open for ever. A debit or
 * release of a report that is not set aside changes nothing.
 */
export const credit: Decider<Credit, CreditCommand, CreditEvent> = {
  category: 'credit',
  initial: { balance: 0, reserved: [], settled: [], refused: [], added: [] },

  decide(command, state) {
    switch (command.kind) {
      case 'add': {
        const { credits, reference } = command;
        if (!Number.isSafeInteger(credits) || credits < 1 || credits > MAX_CREDITS)
          throw wrong('add', `The credit to add must be a whole number of reports from 1 to ${MAX_CREDITS}.`);
        if (!/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$/.test(reference))
          throw wrong(
            'reference',
            'A reference has 1 to 64 letters, digits, dots, colons, slashes, dashes and underscores.',
          );
        const before = state.added.find((addition) => addition.reference === reference);
        if (before && before.credits !== credits)
          throw wrong('reference', 'Another amount was added under this reference.');
        return before ? [] : [{ type: 'CreditAdded', data: { credits, reference } }];
      }
      case 'reserve': {
        const { reservationId } = command;
        if (wasReserved(state, reservationId) || state.refused.includes(reservationId)) return [];
        return [{ type: state.balance > 0 ? 'CreditReserved' : 'CreditRefused', data: reportOf(command) }];
      }
      case 'debit':
        return state.reserved.includes(command.reservationId)
          ? [{ type: 'CreditDebited', data: reportOf(command) }]
          : [];
      case 'release':
        return state.reserved.includes(command.reservationId)
          ? [{ type: 'CreditReleased', data: reportOf(command) }]
          : [];
      default:
        return command satisfies never;
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'CreditAdded':
        return {
          ...state,
          balance: state.balance + event.data.credits,
          added: [...state.added, event.data].slice(-REMEMBERED),
        };
      case 'CreditReserved':
        return { ...state, balance: state.balance - 1, reserved: [...state.reserved, event.data.reservationId] };
      case 'CreditRefused':
        return { ...state, refused: [...state.refused, event.data.reservationId].slice(-REMEMBERED) };
      case 'CreditDebited':
        return settle(state, event.data.reservationId);
      case 'CreditReleased':
        return settle({ ...state, balance: state.balance + 1 }, event.data.reservationId);
      default:
        event satisfies never;
        return state;
    }
  },
};

function reportOf({ reservationId, sessionId }: OfReport): OfReport {
  return { reservationId, ...(sessionId !== undefined && { sessionId }) };
}

/** Whether a report was ever set aside under the reservation, even if the reservation is already settled. */
export function wasReserved(state: Credit, reservationId: string): boolean {
  return state.reserved.includes(reservationId) || state.settled.includes(reservationId);
}

/** Whether a report is set aside under the reservation, or can still be set aside. */
export function isAvailable(state: Credit, reservationId: string): boolean {
  return wasReserved(state, reservationId) || (state.balance > 0 && !state.refused.includes(reservationId));
}

/** An account with a connected payment account and without prepaid billing needs no credit. */
export function needsCredit(account: {
  readonly connectedPaymentAccount: string | null;
  readonly prepaidBilling: boolean;
}): boolean {
  return account.connectedPaymentAccount === null || account.prepaidBilling;
}

function settle(state: Credit, reservationId: string): Credit {
  return {
    ...state,
    reserved: state.reserved.filter((id) => id !== reservationId),
    settled: [...state.settled, reservationId].slice(-REMEMBERED),
  };
}
