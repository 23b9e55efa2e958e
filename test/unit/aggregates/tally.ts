// A decider that counts. The tests of aggregates use this decider.
import type { ActionContext } from '../../../src/kernel/context.js';
import type { Decider } from '../../../src/kernel/decider.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import type { DomainEvent } from '../../../src/kernel/domain-event.js';
import { SetClock } from '../../support/clock.js';

export type TallyEvent =
  DomainEvent<'Counted', { readonly by: number }> | DomainEvent<'Closed.v2', { readonly at: number }>;
export type TallyCommand = { readonly kind: 'count'; readonly by: number } | { readonly kind: 'close' };
export interface Tally {
  readonly total: number;
  readonly closed: boolean;
}

/** Counts up to ten, then closes. A count of 0 decides no event. */
export const tally: Decider<Tally, TallyCommand, TallyEvent> = {
  category: 'tally',
  initial: { total: 0, closed: false },
  decide(command, state) {
    if (state.closed) throw new DomainError('request.invalid');
    if (command.kind === 'close') return [{ type: 'Closed.v2', data: { at: state.total } }];
    if (command.by === 0) return [];
    const counted: TallyEvent = { type: 'Counted', data: { by: command.by } };
    return state.total + command.by >= 10
      ? [counted, { type: 'Closed.v2', data: { at: state.total + command.by } }]
      : [counted];
  },
  evolve: (state, event) =>
    event.type === 'Counted' ? { ...state, total: state.total + event.data.by } : { ...state, closed: true },
};

export const NOW = '2026-03-01T12:00:00.000Z';
export const clock = new SetClock(Date.parse(NOW));
export const CONTEXT: ActionContext = {
  accountId: 'account-1',
  environment: 'test',
  actor: { kind: 'platform-token', id: 'key-1' },
  correlationId: 'request-1',
  causationId: 'cause-1',
};
