// A session for the page and the pull of its report: its state, how it was verified, and the facts of its submission.
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import type { VendorSubject } from '../../../kernel/vendor-subject.js';
import type { Fold } from '../../../platform/aggregates/aggregate-store.js';
import type { VerificationMethod } from '../../../published/screenings.js';
import type { SessionEvent } from '../domain/session.js';
import { datedSession, type DatedSession } from './session-facts.js';

interface Screened extends DatedSession {
  readonly consent: VendorSubject['consent'];
  /** The vault subject under which the address of the unit is stored; null if the page gave none. */
  readonly addressSubject: string | null;
  /** The kind of the last answer. */
  readonly answered: VerificationMethod;
  readonly verifiedBy: VerificationMethod | null;
}

export const screenedSession: Fold<Screened, RecordedEvent & SessionEvent> = {
  category: datedSession.category,
  initial: {
    ...datedSession.initial,
    consent: { acceptedAt: null, termsVersion: null },
    addressSubject: null,
    answered: 'outright',
    verifiedBy: null,
  },
  evolve(before, event) {
    const state = { ...before, ...datedSession.evolve(before, event) };
    switch (event.type) {
      case 'ScreeningSubmitted': {
        const { unitAddressKept, subjectId } = event.data;
        const { termsAcceptedAt: acceptedAt = null, termsVersion = null } = event.data;
        const consent = { acceptedAt, termsVersion };
        return { ...state, consent, addressSubject: unitAddressKept ? subjectId : null };
      }
      case 'OtpAnswerReceived':
        return { ...state, answered: 'otp' };
      case 'KbaAnswersReceived':
        return { ...state, answered: 'kba' };
      case 'IdentityVerified':
        return { ...state, verifiedBy: state.answered };
      default:
        return state;
    }
  },
};
