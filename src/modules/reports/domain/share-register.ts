// The shares of a session's report, by the session's id. A revocation of all shares revokes each of them.
import type { CommandTo } from '../../../kernel/command-to.js';
import type { Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';

export type ShareRegisterEvent = DomainEvent<'ShareRegistered', { readonly shareId: string }>;

/** The state is the ids of the shares, oldest first. Shares from before the register existed are missing. */
export const shareRegister: Decider<
  readonly string[],
  { readonly kind: 'register'; readonly shareId: string },
  ShareRegisterEvent
> = {
  category: 'share_register',
  initial: [],

  decide({ shareId }, shareIds) {
    return shareIds.includes(shareId) ? [] : [{ type: 'ShareRegistered', data: { shareId } }];
  },

  evolve: (shareIds, event) => (event.type === 'ShareRegistered' ? [...shareIds, event.data.shareId] : shareIds),
};

/** Registers a share before it is stored, so that every stored share is in the register. */
export function registering(sessionId: string, shareId: string): CommandTo<typeof shareRegister> {
  return { decider: shareRegister, id: sessionId, command: { kind: 'register', shareId } };
}
