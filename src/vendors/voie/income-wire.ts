// The income vendor's wire format: requests written, answers read and checked. Used by http.ts only.
import type { IncomeOutcome, IncomeReport, IncomeRoute, IncomeStart } from '../../ports/income-vendor.js';
import type { VendorAnswer } from '../../vendor-kit/answer.js';
import { cents, date, fields, listOf, oneOf, orNull, readWith, text, textLike } from '../../vendor-kit/reading.js';

const UNINTELLIGIBLE = { kind: 'unintelligible' } as const;

const MOST_EMPLOYERS = 100;
const MOST_PAYSTUBS = 500;

const started = fields({ inquiryId: textLike(/^[\x21-\x7e]{1,255}$/) });
const status = fields({ inquiryId: text, status: oneOf(['in-progress', 'completed', 'failed']) });
const failed = fields({ reason: oneOf(['NO_MATCH', 'VENDOR_ERROR']) });
const completed = fields<{ readonly report: IncomeReport }>({
  report: fields({
    employers: listOf(
      fields({ name: text, title: orNull(text), startedOn: orNull(date), endedOn: orNull(date) }),
      MOST_EMPLOYERS,
    ),
    income: fields({
      annualGrossCents: cents,
      currency: textLike(/^[a-z]{3}$/),
      payFrequency: oneOf(['WEEKLY', 'BIWEEKLY', 'SEMIMONTHLY', 'MONTHLY']),
    }),
    paystubs: listOf(fields({ payDate: date, grossCents: cents, netCents: cents }), MOST_PAYSTUBS),
  }),
});

export function inquiryRequest(route: IncomeRoute, person: string | null): object {
  return { route, ...(person === null ? {} : { identitySession: person }) };
}

export function readStart(answer: VendorAnswer): IncomeStart {
  const body = answer.status === 200 ? readWith(started, answer.body) : null;
  return body === null ? UNINTELLIGIBLE : { kind: 'started', inquiry: body.inquiryId };
}

/** An answer about another inquiry than the one asked for would be another person's income. */
export function readOutcome(answer: VendorAnswer, inquiry: string): IncomeOutcome {
  const said = answer.status === 200 ? readWith(status, answer.body) : null;
  if (said?.inquiryId !== inquiry) return UNINTELLIGIBLE;
  switch (said.status) {
    case 'in-progress':
      return { kind: 'in-progress' };
    case 'completed': {
      const body = readWith(completed, answer.body);
      return body === null ? UNINTELLIGIBLE : { kind: 'completed', report: body.report };
    }
    case 'failed': {
      const body = readWith(failed, answer.body);
      return body === null ? UNINTELLIGIBLE : { kind: 'failed', reason: body.reason };
    }
    default:
      return said.status satisfies never;
  }
}
