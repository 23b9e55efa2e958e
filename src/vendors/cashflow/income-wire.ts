// The wire format of the vendor of bank transactions: writes requests, reads and checks answers. income.ts uses it.
import * as v from 'valibot';
import type { IncomeOutcome, IncomeReport, IncomeStart } from '../../ports/income-vendor.js';
import { type ErrorTable, type Reader, type VendorAnswer, isRecord, readerOf } from '../../vendor-kit/http/answer.js';
import { cents, date, listOf, read, text, textLike } from '../../vendor-kit/reading.js';

const UNINTELLIGIBLE = { kind: 'unintelligible' } as const;

const MOST_PAYERS = 100;
const MOST_DEPOSITS = 500;

const started = v.object({ inquiryId: textLike(/^[\x21-\x7e]{1,255}$/) });
const status = v.object({ inquiryId: text, status: v.picklist(['in-progress', 'completed', 'failed']) });
/** The seconds until the vendor knows more. */
const working = v.object({ checkAgainSeconds: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(86_400)) });
const failed = v.object({ reason: v.picklist(['NO_MATCH', 'VENDOR_ERROR']) });
const completed = v.object({
  report: v.object({
    payers: listOf(v.object({ name: text, lastPaidOn: v.nullable(date) }), MOST_PAYERS),
    income: v.object({
      annualGrossCents: cents,
      currency: textLike(/^[a-z]{3}$/),
      payFrequency: v.picklist(['WEEKLY', 'BIWEEKLY', 'SEMIMONTHLY', 'MONTHLY']),
    }),
    deposits: listOf(v.object({ paidOn: date, grossCents: cents, netCents: cents }), MOST_DEPOSITS),
  }),
});

export function inquiryRequest(person: string | null): object {
  return { identitySession: person ?? undefined };
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
    case 'in-progress': {
      const body = read(working, answer.body);
      return { kind: 'in-progress', ...(body !== null && { lookAgainAfter: body.checkAgainSeconds }) };
    }
    case 'completed': {
      const body = read(completed, answer.body);
      return body === null ? UNINTELLIGIBLE : { kind: 'completed', report: reportOf(body.report) };
    }
    case 'failed': {
      const body = read(failed, answer.body);
      return body === null ? UNINTELLIGIBLE : { kind: 'failed', reason: body.reason };
    }
    default:
      return said.status satisfies never;
  }
}

/** Transactions name the payers of wages, but no job title and no first day. `lastPaidOn` is null while a payer still pays. */
function reportOf({ payers, income, deposits }: v.InferOutput<typeof completed>['report']): IncomeReport {
  return {
    employers: payers.map(({ name, lastPaidOn }) => ({ name, title: null, startedOn: null, endedOn: lastPaidOn })),
    income,
    paystubs: deposits.map(({ paidOn, grossCents, netCents }) => ({ payDate: paidOn, grossCents, netCents })),
  };
}
