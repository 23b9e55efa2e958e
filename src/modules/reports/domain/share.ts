// A consumer's consent shares a report with one account; a revocation is final (docs/contract/platform.md#sharing). A link shares a report with an
// agent or organization of the account itself, and can be made again (docs/contract/direct.md#links).
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { derivedId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { monthsAfter } from './calendar-months.js';
import type { PermissiblePurpose } from '../../../kernel/permissible-purpose.js';

/** The time for which a recipient may see the report (docs/contract/platform.md#sharing). */
const WINDOW_MONTHS = 24;

export type ShareEvent =
  | DomainEvent<
      'ReportShared',
      {
        readonly reportId: string;
        readonly sessionId: string;
        readonly recipientAccountId: string;
        /** The agent or organization of that account that the link names; absent for a share with the account. */
        readonly recipientPartyId?: string;
        /** Absent in older events. */
        readonly purpose?: PermissiblePurpose;
        /** ISO 8601 UTC, like every time in this file. */
        readonly sharedAt: string;
        readonly expiresAt: string;
      }
    >
  | DomainEvent<
      'SharingRevoked',
      {
        readonly reportId: string;
        readonly sessionId: string;
        readonly recipientAccountId: string;
        readonly revokedAt: string;
      }
    >;

interface Shared {
  readonly reportId: string;
  readonly sessionId: string;
  readonly recipientAccountId: string;
  readonly recipientPartyId?: string;
  readonly purpose?: PermissiblePurpose;
  readonly sharedAt: string;
  readonly expiresAt: string;
}

export type ActiveShare = Shared & { readonly status: 'SHARED' };
export type RevokedShare = Shared & { readonly status: 'REVOKED'; readonly revokedAt: string };
export type ShareState = { readonly status: 'NONE' } | ActiveShare | RevokedShare;

export type ShareCommand =
  | {
      readonly kind: 'share';
      readonly now: Date;
      readonly reportId: string;
      readonly sessionId: string;
      readonly recipientAccountId: string;
      /** Makes the share a link. */
      readonly recipientPartyId?: string;
      readonly purpose: PermissiblePurpose;
      /** Null means 24 calendar months. */
      readonly windowSeconds: number | null;
    }
  | { readonly kind: 'revoke'; readonly now: Date };

export const share: Decider<ShareState, ShareCommand, ShareEvent> = {
  category: 'share',
  initial: { status: 'NONE' },
  decide,
  evolve,
};

/** One share for each session and recipient. The recipient is an account or a party. */
export function shareIdOf(sessionId: string, recipientId: string): string {
  return derivedId('share', sessionId, recipientId);
}

export function idOfShare({ sessionId, recipientAccountId, recipientPartyId }: Shared): string {
  return shareIdOf(sessionId, recipientPartyId ?? recipientAccountId);
}

function decide(command: ShareCommand, state: ShareState): readonly ShareEvent[] {
  switch (command.kind) {
    case 'share': {
      if (state.status !== 'NONE' && !(isLink(state) && isEnded(state, command.now))) {
        stillShared(state, command.now);
        return [];
      }
      const { reportId, sessionId, recipientAccountId, recipientPartyId, purpose, now, windowSeconds } = command;
      const end =
        windowSeconds === null ? monthsAfter(now, WINDOW_MONTHS) : new Date(now.getTime() + windowSeconds * 1_000);
      return [
        {
          type: 'ReportShared',
          data: {
            reportId,
            sessionId,
            recipientAccountId,
            ...(recipientPartyId !== undefined && { recipientPartyId }),
            purpose,
            sharedAt: now.toISOString(),
            expiresAt: end.toISOString(),
          },
        },
      ];
    }
    case 'revoke': {
      if (state.status === 'NONE') throw new DomainError('sharing.not_found');
      if (state.status === 'REVOKED') {
        if (isLink(state)) return [];
        throw new DomainError('sharing.already_revoked');
      }
      const { reportId, sessionId, recipientAccountId } = state;
      return [
        {
          type: 'SharingRevoked',
          data: { reportId, sessionId, recipientAccountId, revokedAt: command.now.toISOString() },
        },
      ];
    }
    default:
      return command satisfies never;
  }
}

/** The share for a repeated consent. Throws for a revoked or expired share, because neither can be renewed. */
export function stillShared(state: ActiveShare | RevokedShare, now: Date): ActiveShare {
  if (state.status === 'REVOKED') throw new DomainError('sharing.already_revoked');
  if (isOver(state, now)) throw new DomainError('sharing.expired');
  return state;
}

function isLink({ recipientPartyId }: Shared): boolean {
  return recipientPartyId !== undefined;
}

function isEnded(state: ActiveShare | RevokedShare, now: Date): boolean {
  return state.status === 'REVOKED' || isOver(state, now);
}

export function isOver({ expiresAt }: Shared, now: Date): boolean {
  return now >= new Date(expiresAt);
}

function evolve(state: ShareState, event: ShareEvent): ShareState {
  switch (event.type) {
    case 'ReportShared':
      return { status: 'SHARED', ...event.data };
    case 'SharingRevoked':
      return state.status === 'NONE' ? state : { ...state, status: 'REVOKED', revokedAt: event.data.revokedAt };
    default:
      return assertNever(event, state);
  }
}
