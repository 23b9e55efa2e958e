// The legal holds on the data of an account, and the erasures that they defer. The stream has the account's id.
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { Erasure, HeldData } from '../../../kernel/held-data.js';

/** `id` is the session's id, the vault subject, or the account's id. A session's hold also defers the erasure of the session's person. */
export type Coverage =
  | { readonly kind: 'session'; readonly id: string; readonly subjectId: string }
  | { readonly kind: 'person' | 'account'; readonly id: string };

type Deferred = Pick<Erasure, 'kind' | 'id'>;

export type AccountHoldsEvent =
  /** `matter` and `orderedBy` contain no personal data of a consumer. `until` is ISO 8601 UTC, and null for a hold that stands until its release. */
  | DomainEvent<
      'HoldPlaced',
      {
        readonly holdId: string;
        readonly covers: Coverage;
        readonly matter: string;
        readonly orderedBy: string;
        readonly until: string | null;
      }
    >
  | DomainEvent<'HoldReleased', { readonly holdId: string; readonly releasedAt: string }>
  /** An erasure was refused because of these holds, and is remembered. The metadata have who asked for it, and why. */
  | DomainEvent<'ErasureDeferred', Deferred & { readonly holdIds: readonly string[] }>
  | DomainEvent<'DeferredErasureDone', Deferred>;

export type AccountHoldsCommand =
  | {
      readonly kind: 'place';
      readonly holdId: string;
      readonly covers: Coverage;
      readonly matter: string;
      readonly orderedBy: string;
      readonly until: string | null;
    }
  | { readonly kind: 'release'; readonly now: Date; readonly holdId: string }
  | { readonly kind: 'defer'; readonly now: Date; readonly erasure: Erasure }
  | { readonly kind: 'finish'; readonly erasure: Deferred };

export interface Hold {
  readonly holdId: string;
  readonly covers: Coverage;
  readonly matter: string;
  readonly orderedBy: string;
  readonly until: string | null;
  /** ISO 8601 UTC; null for a hold that was not released. */
  readonly releasedAt: string | null;
}

export interface AccountHoldsState {
  readonly holds: readonly Hold[];
  readonly deferred: readonly (Deferred & { readonly holdIds: readonly string[] })[];
}

export const accountHolds: Decider<AccountHoldsState, AccountHoldsCommand, AccountHoldsEvent> = {
  category: 'hold',
  initial: { holds: [], deferred: [] },

  decide(command, state) {
    switch (command.kind) {
      case 'place': {
        const { kind: _, ...placed } = command;
        return [{ type: 'HoldPlaced', data: placed }];
      }
      case 'release': {
        const hold = state.holds.find(({ holdId }) => holdId === command.holdId);
        if (hold === undefined) throw new DomainError('request.not_found', { field: 'hold' });
        return hold.releasedAt === null
          ? [{ type: 'HoldReleased', data: { holdId: hold.holdId, releasedAt: command.now.toISOString() } }]
          : [];
      }
      case 'defer': {
        const { kind, id } = command.erasure;
        const holdIds = holdsOn(state, command.erasure, command.now).map(({ holdId }) => holdId);
        const known = state.deferred.find(isOf(command.erasure));
        return holdIds.length === 0 || known?.holdIds.join() === holdIds.join()
          ? []
          : [{ type: 'ErasureDeferred', data: { kind, id, holdIds } }];
      }
      case 'finish': {
        const { kind, id } = command.erasure;
        return state.deferred.some(isOf(command.erasure)) ? [{ type: 'DeferredErasureDone', data: { kind, id } }] : [];
      }
      default:
        return command satisfies never;
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'HoldPlaced':
        return { ...state, holds: [...state.holds, { ...event.data, releasedAt: null }] };
      case 'HoldReleased': {
        const { holdId, releasedAt } = event.data;
        return {
          ...state,
          holds: state.holds.map((hold) => (hold.holdId === holdId ? { ...hold, releasedAt } : hold)),
        };
      }
      case 'ErasureDeferred':
        return { ...state, deferred: [...state.deferred.filter((one) => !isOf(event.data)(one)), event.data] };
      case 'DeferredErasureDone':
        return { ...state, deferred: state.deferred.filter((one) => !isOf(event.data)(one)) };
      default:
        return assertNever(event, state);
    }
  },
};

/** The holds that stand at that time and cover any of the data. */
export function holdsOn({ holds }: AccountHoldsState, data: HeldData, now: Date): readonly Hold[] {
  return holds.filter((hold) => stands(hold, now) && isOn(hold.covers, data));
}

function isOn(covers: Coverage, { accountId, sessionIds, subjectIds }: HeldData): boolean {
  switch (covers.kind) {
    case 'session':
      return sessionIds === 'all' ? subjectIds.includes(covers.subjectId) : sessionIds.includes(covers.id);
    case 'person':
      return subjectIds.includes(covers.id);
    case 'account':
      return covers.id === accountId;
    default:
      return covers satisfies never;
  }
}

export function stands({ until, releasedAt }: Hold, now: Date): boolean {
  return releasedAt === null && (until === null || now < new Date(until));
}

/** The time at which no hold defers the erasure any more (ISO 8601 UTC); null while a hold without an end stands. */
export function endOf({ holds }: AccountHoldsState, { holdIds }: AccountHoldsState['deferred'][number]): string | null {
  const ends = holds
    .filter(({ holdId }) => holdIds.includes(holdId))
    .map(({ until, releasedAt }) => releasedAt ?? until);
  return ends.includes(null) ? null : (ends.sort().at(-1) ?? null);
}

function isOf({ kind, id }: Deferred): (other: Deferred) => boolean {
  return (other) => other.kind === kind && other.id === id;
}
