// Which shares the report of a session has, by the session's id. A consent that is taken back from all is taken back from each of them.
import type { CommandTo } from '../../../kernel/change.js';
import type { Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';

export type ShareRegisterEvent = DomainEvent<'ShareRegistered', { readonly shareId: string }>;

/** The state is the ids of the shares, oldest first; those that were made before there was a register are missing. */
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

/** Goes before the share, so that each share that is stored is registered. */
export function registering(sessionId: string, shareId: string): CommandTo<typeof shareRegister> {
  return { decider: shareRegister, id: sessionId, command: { kind: 'register', shareId } };
}
