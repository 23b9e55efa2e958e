import type { CallerContext } from '../kernel/context.js';
import type { Language } from '../kernel/terms.js';

/** The consent that a page gives with a request. */
export interface GivenConsent {
  /** ISO 8601. Absent: the integrator asserts the consent. */
  readonly acceptedAt?: string | undefined;
  readonly termsVersion?: string;
  readonly termsLanguage?: Language;
}

/** The ledger of consents, for modules that ask vendors about a person without a screening. */
export abstract class Consents {
  /** Records the consent under the id of the module's own session. It must be recorded before the session is. A second consent changes nothing. */
  abstract record(sessionId: string, given: GivenConsent, context: CallerContext): Promise<void>;
}
