// The consent under which a person is screened and a report may be pulled (docs/contract/platform.md#submission). It is recorded before any call to a
// vendor. The event's metadata names the page's token and origin and, as keyed hashes, the client.
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import type { Language } from '../../../kernel/terms.js';

export interface Consent {
  /** `INTEGRATOR`: the integrator's server has the consent of the person, and this service showed no text. */
  readonly recordedBy: 'PAGE' | 'INTEGRATOR';
  /** The time that the page gave, ISO 8601 UTC. Absent if the page was the integrator's. */
  readonly acceptedAt?: string;
  /** Absent if the page gave none. */
  readonly termsVersion?: string;
  /** The language of the text. Present, like `textDigest`, if the page gave the language and its version is the present one. */
  readonly language?: Language;
  /** See `shownDigestOf`. */
  readonly textDigest?: string;
}

export type ConsentEvent = DomainEvent<'ConsentGiven', Consent>;
export type ConsentCommand = { readonly kind: 'give' } & Consent;

/** The stream has the id of the screening session. */
export const consent: Decider<Consent | null, ConsentCommand, ConsentEvent> = {
  category: 'consent',
  initial: null,

  decide({ kind: _, ...given }, state) {
    return state === null ? [{ type: 'ConsentGiven', data: given }] : [];
  },

  evolve(state, event) {
    switch (event.type) {
      case 'ConsentGiven':
        return event.data;
      default:
        return assertNever(event.type, state);
    }
  },
};
