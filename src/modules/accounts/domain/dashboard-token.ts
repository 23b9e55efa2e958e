import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';

export interface DashboardTokenState {
  readonly revoked: boolean;
}

export interface RevokeToken {
  readonly kind: 'revoke';
}

export type DashboardTokenEvent = DomainEvent<'DashboardTokenRevoked', Record<never, never>>;

/**
 * A dashboard token that may have been revoked. The account's stream records the issue of the token. The token's own stream begins with the
 * revocation.
 */
export const dashboardToken: Decider<DashboardTokenState, RevokeToken, DashboardTokenEvent> = {
  category: 'dashboard_token',
  initial: { revoked: false },
  decide: (_, { revoked }) => (revoked ? [] : [{ type: 'DashboardTokenRevoked', data: {} }]),
  evolve(state, event) {
    switch (event.type) {
      case 'DashboardTokenRevoked':
        return { revoked: true };
      default:
        return assertNever(event.type, state);
    }
  },
};
