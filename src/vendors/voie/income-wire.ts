// The income vendor's wire format: writes requests, reads and checks answers. income.ts uses it.
import * as v from 'valibot';
import type { IncomeOutcome, IncomeRoute, IncomeStart } from '../../ports/income-vendor.js';
import { type ErrorTable, type Reader, type VendorAnswer, isRecord, readerOf } from '../../vendor-kit/http/answer.js';
import { cents, date, listOf, read, text, textLike } from '../../vendor-kit/reading.js';

const UNINTELLIGIBLE = { kind: 'unintelligible' } as const;

const MOST_EMPLOYERS = 100;
const MOST_PAYSTUBS = 500;

const started = v.object({ inquiryId: textLike(/^[\x21-\x7e]{1,255}$/) });
const status = v.object({ inquiryId: text, status: v.picklist(['in-progress', 'completed', 'failed']) });
const failed = v.object({ reason: v.picklist(['NO_MATCH', 'VENDOR_ERROR']) });
const completed = v.object({
  report: v.object({
    employers: listOf(
      v.object({ name: text, title: v.nullable(text), startedOn: v.nullable(date), endedOn: v.nullable(date) }),
      MOST_EMPLOYERS,
    ),
    income: v.object({
      annualGrossCents: cents,
      currency: textLike(/^[a-z]{3}$/),
      payFrequency: v.picklist(['WEEKLY', 'BIWEEKLY', 'SEMIMONTHLY', 'MONTHLY']),
    }),
    paystubs: listOf(v.object({ payDate: date, grossCents: cents, netCents: cents }), MOST_PAYSTUBS),
  }),
});

export function inquiryRequest(route: IncomeRoute, person: string | null): object {
  return { route, identitySession: person ?? undefined };
}

/** The vendor's word for an error of the call. */
export const ERRORS: ErrorTable<never> = {
  codeOf: ({ body }) =>
    isRecord(body) && isRecord(body.error) && typeof body.error.code === 'string' ? body.error.code : null,
  codes: { key_closed: { kind: 'unavailable' }, call_in_progress: { kind: 'timed-out' } },
};

export const readStart: Reader<IncomeStart> = readerOf<IncomeStart>(ERRORS, ({ status, body }) => {
  const said = status === 200 ? read(started, body) : null;
  return said && { kind: 'started', inquiry: said.inquiryId };
});

export function outcomeReader(inquiry: string): Reader<IncomeOutcome> {
  return readerOf<IncomeOutcome>(ERRORS, (answer) => outcomeOf(answer, inquiry));
}

/** An answer about another inquiry is refused, because it could be another person's income. */
function outcomeOf(answer: VendorAnswer, inquiry: string): IncomeOutcome {
  const said = answer.status === 200 ? read(status, answer.body) : null;
  if (said?.inquiryId !== inquiry) return UNINTELLIGIBLE;
  switch (said.status) {
    case 'in-progress':
      return { kind: 'in-progress' };
    case 'completed': {
      const body = read(completed, answer.body);
      return body === null ? UNINTELLIGIBLE : { kind: 'completed', report: body.report };
    }
    case 'failed': {
      const body = read(failed, answer.body);
      return body === null ? UNINTELLIGIBLE : { kind: 'failed', reason: body.reason };
    }
    default:
      return said.status satisfies never;
  }
}
