// A report shared with one account, with the consumer's consent. Revoking is for good.
// Source: docs/contract/platform.md#sharing.
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { derivedId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { monthsAfter } from './calendar-months.js';

/** How long a recipient may look (docs/contract/platform.md#sharing). */
const WINDOW_MONTHS = 24;

export type ShareEvent =
  | DomainEvent<
      'ReportShared',
      {
        readonly reportId: string;
        readonly sessionId: string;
        readonly recipientAccountId: string;
        /** ISO 8601 UTC, as all times here. */
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
      /** Null: 24 calendar months. */
      readonly windowSeconds: number | null;
    }
  | { readonly kind: 'revoke'; readonly now: Date };

export const share: Decider<ShareState, ShareCommand, ShareEvent> = {
  category: 'share',
  initial: { status: 'NONE' },
  decide,
  evolve,
};

/** One share a session and recipient, for ever: a revoked one is not followed by another. */
export function shareIdOf(sessionId: string, recipientAccountId: string): string {
  return derivedId('share', sessionId, recipientAccountId);
}

function decide(command: ShareCommand, state: ShareState): readonly ShareEvent[] {
  switch (command.kind) {
    case 'share': {
      if (state.status !== 'NONE') {
        stillShared(state, command.now);
        return [];
      }
      const { reportId, sessionId, recipientAccountId, now, windowSeconds } = command;
      const end =
        windowSeconds === null ? monthsAfter(now, WINDOW_MONTHS) : new Date(now.getTime() + windowSeconds * 1_000);
      return [
        {
          type: 'ReportShared',
          data: { reportId, sessionId, recipientAccountId, sharedAt: now.toISOString(), expiresAt: end.toISOString() },
        },
      ];
    }
    case 'revoke': {
      if (state.status === 'NONE') throw new DomainError('sharing.not_found');
      if (state.status === 'REVOKED') throw new DomainError('sharing.already_revoked');
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

/** What consenting once more finds: neither a revoked share nor one whose window is over can be renewed. */
export function stillShared(state: ActiveShare | RevokedShare, now: Date): ActiveShare {
  if (state.status === 'REVOKED') throw new DomainError('sharing.already_revoked');
  if (isOver(state, now)) throw new DomainError('sharing.expired');
  return state;
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
