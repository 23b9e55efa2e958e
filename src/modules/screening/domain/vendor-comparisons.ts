// The verdicts of two identity vendors on one test person. Operators read them with `ops vendors differences`.
import type { Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';

/** A vendor, and the kind of its verdict (`RegistrationVerdict`). */
export interface ComparedVerdict {
  readonly vendor: string;
  readonly verdict: string;
}

export interface VendorComparison {
  readonly sessionId: string;
  /** The vendor that decided about the session. */
  readonly first: ComparedVerdict;
  /** The vendor whose verdict has no effect on the session. */
  readonly shadow: ComparedVerdict;
}

export type VendorComparisonEvent = DomainEvent<'VendorsCompared', VendorComparison>;

/** All comparisons are in one stream, so that a report needs no read model. */
export const COMPARISONS = 'installation';

export const vendorComparisons: Decider<object, { readonly kind: 'record' } & VendorComparison, VendorComparisonEvent> =
  {
    category: 'vendor_comparisons',
    initial: {},
    newestOnly: true,

    decide({ kind: _, ...comparison }) {
      return [{ type: 'VendorsCompared', data: comparison }];
    },

    evolve: (state) => state,
  };

/** The kinds of `NoVerdict`. */
const NO_VERDICTS: readonly string[] = ['unavailable', 'timed-out', 'unintelligible'];

export function isVerdict(kind: string): boolean {
  return !NO_VERDICTS.includes(kind);
}

/** `unanswered`: the shadow gave no verdict. */
export function resultOf({
  first,
  shadow,
}: Pick<VendorComparison, 'first' | 'shadow'>): 'agree' | 'differ' | 'unanswered' {
  if (!isVerdict(shadow.verdict)) return 'unanswered';
  return first.verdict === shadow.verdict ? 'agree' : 'differ';
}
