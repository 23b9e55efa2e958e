import type { Decider } from '../../../kernel/decider.js';
import type { EndUserType } from '../../../kernel/end-user-type.js';
import type { Environment } from '../../../kernel/environment.js';
import type { PermissiblePurpose } from '../../../kernel/permissible-purpose.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { wrong, type Product } from './account.js';

/** The terms of a grant when it is issued. */
export interface GrantTerms {
  /** The account whose secret key issued the grant. */
  readonly mintedBy: string;
  /** The direct child of that account on whose behalf the grant is; null if the grant is for the account itself. */
  readonly onBehalfOf: string | null;
  readonly environment: Environment;
  readonly userType: Product | null;
  /** The account with which a consent shares the report. */
  readonly recipientAccountId: string | null;
  /** The vault subject of the caller's details, which are stored by the grant's id; null if the caller gave none. */
  readonly detailsSubject: string | null;
  /** The type of the session's end user. OTHER: the caller's details say who the user is. Absent if the grant names none, and in older events. */
  readonly endUserType?: EndUserType | 'OTHER';
  /** The purpose for which the report may be read. Absent if the grant names none, and in older events. */
  readonly purpose?: PermissiblePurpose;
  /** The cents of the session's payment that the platform keeps. Absent if the grant sets none. */
  readonly applicationFeeCents?: number;
  /** Keyed hash of the caller's own id of the session (see published/external-ids.ts). Absent if the grant has none, and in older events. */
  readonly externalIdHash?: string;
  /** SHA-256 of the whole token, lowercase hex. */
  readonly tokenHash: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

/** The facts of a request that presents a grant. */
export interface Presentation {
  readonly now: Date;
  /** Account and environment of the publishable key. */
  readonly accountId: string;
  readonly environment: Environment;
}

export type SessionGrantCommand =
  | { readonly kind: 'mint'; readonly terms: GrantTerms }
  /** `tokenId`: `jti` of the bearer token that is issued under the grant. */
  | { readonly kind: 'consume'; readonly presentation: Presentation; readonly tokenId: string }
  /**
   * A screening session will begin under the grant. `replaces`: the session before it, which ended without success
   * (docs/contract/server.md#values-of-a-grant).
   */
  | { readonly kind: 'begin-session'; readonly now: Date; readonly sessionId: string; readonly replaces: string | null }
  /** The caller's details are stored under the person's subject from now on. Only the first person of the grant gets the details. */
  | { readonly kind: 'record-details-moved'; readonly subjectId: string }
  /** No session began, but a legal hold covers the account. The holds module remembers the erasure. */
  | { readonly kind: 'record-held' }
  /** The caller's details were destroyed, because no session began. */
  | { readonly kind: 'record-erased' };

export type SessionGrantEvent =
  | DomainEvent<'GrantMinted', GrantTerms>
  | DomainEvent<'GrantConsumed', { readonly tokenId: string }>
  /** ISO 8601 UTC. */
  | DomainEvent<'GrantSessionBegun', { readonly sessionId: string; readonly begunAt: string }>
  | DomainEvent<'GrantDetailsEntrusted', { readonly subjectId: string }>
  /** The details stay for as long as a legal hold on the account. */
  | DomainEvent<'GrantDetailsHeld', Record<never, never>>
  | DomainEvent<'GrantDetailsErased', Record<never, never>>;

export type SessionGrantState = { readonly status: 'unknown' } | IssuedGrant;

export interface IssuedGrant extends GrantTerms {
  readonly status: 'open' | 'consumed';
  /** Whether the details are stored under the subject of a session's person. */
  readonly detailsMoved: boolean;
  /** Whether a legal hold has kept the details from their erasure. */
  readonly detailsHeld: boolean;
  /** The newest session that began under the grant. */
  readonly session: { readonly sessionId: string; readonly begunAt: string } | null;
}

/** The reason why a grant cannot be redeemed (docs/contract/server.md#exchanging-a-grant). */
export type GrantFault = 'ALREADY_CONSUMED' | 'EXPIRED' | 'NOT_FOUND' | 'ENVIRONMENT_MISMATCH' | 'ACCOUNT_MISMATCH';

/**
 * A grant for a single use. Only the first request can redeem the grant. A grant that cannot be redeemed stays unchanged, and `faultOf` gives the
 * reason.
 */
export const sessionGrant: Decider<SessionGrantState, SessionGrantCommand, SessionGrantEvent> = {
  category: 'session_grant',
  initial: { status: 'unknown' },

  decide(command, state) {
    switch (command.kind) {
      case 'mint':
        if (state.status !== 'unknown') throw wrong('grant', 'A grant is minted once.');
        return [{ type: 'GrantMinted', data: command.terms }];
      case 'consume':
        return faultOf(state, command.presentation) === null
          ? [{ type: 'GrantConsumed', data: { tokenId: command.tokenId } }]
          : [];
      case 'begin-session':
        if (state.status === 'unknown' || (state.session?.sessionId ?? null) !== command.replaces) return [];
        return [
          { type: 'GrantSessionBegun', data: { sessionId: command.sessionId, begunAt: command.now.toISOString() } },
        ];
      case 'record-details-moved':
        return detailsAwaitedBy(state)
          ? [{ type: 'GrantDetailsEntrusted', data: { subjectId: command.subjectId } }]
          : [];
      case 'record-held':
        return detailsAwaitedBy(state) && !state.detailsHeld ? [{ type: 'GrantDetailsHeld', data: {} }] : [];
      case 'record-erased':
        return detailsAwaitedBy(state) ? [{ type: 'GrantDetailsErased', data: {} }] : [];
      default:
        return command satisfies never;
    }
  },

  evolve(state, event) {
    if (event.type === 'GrantMinted')
      return { status: 'open', detailsMoved: false, detailsHeld: false, session: null, ...event.data };
    if (state.status === 'unknown') return state;
    switch (event.type) {
      case 'GrantConsumed':
        return { ...state, status: 'consumed' };
      case 'GrantSessionBegun':
        return { ...state, session: event.data };
      case 'GrantDetailsEntrusted':
        return { ...state, detailsSubject: event.data.subjectId, detailsMoved: true };
      case 'GrantDetailsHeld':
        return { ...state, detailsHeld: true };
      case 'GrantDetailsErased':
        return { ...state, detailsSubject: null };
      default:
        event satisfies never;
        return state;
    }
  },
};

/** Whether the details still belong to no person. */
export function detailsAwaitedBy(state: SessionGrantState): state is IssuedGrant & { readonly detailsSubject: string } {
  return state.status !== 'unknown' && state.detailsSubject !== null && !state.detailsMoved;
}

/**
 * Null if a key of the issuing account, or of the child that the grant is for, may redeem the grant. Keys of other accounts learn nothing about the
 * grant's state.
 */
export function faultOf(state: SessionGrantState, { now, accountId, environment }: Presentation): GrantFault | null {
  if (state.status === 'unknown') return 'NOT_FOUND';
  if (state.environment !== environment) return 'ENVIRONMENT_MISMATCH';
  if (state.mintedBy !== accountId && state.onBehalfOf !== accountId) return 'ACCOUNT_MISMATCH';
  if (state.status === 'consumed') return 'ALREADY_CONSUMED';
  return now < new Date(state.expiresAt) ? null : 'EXPIRED';
}

/** The account that embeds the component of the session. */
export function embedderOf({ mintedBy, onBehalfOf }: Pick<GrantTerms, 'mintedBy' | 'onBehalfOf'>): string {
  return onBehalfOf ?? mintedBy;
}
