// The credit bureau's wire format: writes requests, reads and checks reports. credit.ts uses it.
import * as v from 'valibot';
import type { CreditScore, ReportVerdict } from '../../ports/credit-bureau.js';
import type { VendorAnswer } from '../../vendor-kit/http/answer.js';
import { cents, date, listOf, read, text, textLike, whole } from '../../vendor-kit/reading.js';
import { verdictOfCode } from './credit-codes.js';
import { upstreamCode, withReply } from './dialect.js';

const UNINTELLIGIBLE = { kind: 'unintelligible' } as const;

const MOST_LINES = 1_000;
const MOST_RECORDS = 500;
const MOST_FACTORS = 10;
const MOST_ADDRESSES = 50;
const MOST_ALERTS = 50;

const score = v.object({
  value: whole(0, 10_000),
  model: text,
  min: whole(0, 10_000),
  max: whole(0, 10_000),
  factors: listOf(text, MOST_FACTORS),
  date,
});

const report = v.object({
  consumer: v.object({
    name: text,
    addresses: listOf(text, MOST_ADDRESSES),
    birthYear: v.nullable(whole(1_850, 2_200)),
    ssnLastFour: v.optional(textLike(/^\d{4}$/)),
  }),
  alerts: v.optional(listOf(v.object({ type: text, date: v.optional(date) }), MOST_ALERTS)),
  searches: v.optional(
    listOf(
      v.object({ section: v.picklist(['publicRecords', 'background', 'housingCourt']), area: text, date }),
      MOST_RECORDS,
    ),
  ),
  tradeLines: listOf(
    v.object({
      creditor: text,
      type: text,
      // The service requests only the last digits. A full account number must not be passed on.
      account: textLike(/^\d{1,4}$/),
      openedOn: date,
      status: text,
      balanceCents: cents,
      limitCents: v.nullable(cents),
      pastDueCents: cents,
      paymentHistory: textLike(/^[A-Za-z0-9]{0,240}$/),
    }),
    MOST_LINES,
  ),
  publicRecords: listOf(
    v.object({ type: text, court: text, filedOn: date, status: text, amountCents: v.nullable(cents) }),
    MOST_RECORDS,
  ),
  inquiries: listOf(v.object({ subscriber: text, date, purpose: text }), MOST_RECORDS),
  background: v.nullable(
    listOf(v.object({ jurisdiction: text, offense: text, severity: text, date, disposition: text }), MOST_RECORDS),
  ),
  housingCourt: v.nullable(
    listOf(
      v.object({ court: text, caseType: text, filedOn: date, outcome: text, judgmentCents: v.nullable(cents) }),
      MOST_RECORDS,
    ),
  ),
});

const answerBody = v.object({ score: v.nullable(score), report });

export function reportRequest(person: string): object {
  return { session: person };
}

/** The vendor's number has priority over the HTTP status. */
export function readReport(answer: VendorAnswer): ReportVerdict {
  return withReply(verdictOf(answer), answer);
}

function verdictOf(answer: VendorAnswer): ReportVerdict {
  if (answer.status !== 200) {
    const code = upstreamCode(answer);
    return (code === null ? null : verdictOfCode(code)) ?? UNINTELLIGIBLE;
  }
  const body = read(answerBody, answer.body);
  if (body === null || !isOnItsScale(body.score)) return UNINTELLIGIBLE;
  return { kind: 'report', score: body.score, report: body.report };
}

function isOnItsScale(score: CreditScore | null): boolean {
  return score === null || (score.min <= score.value && score.value <= score.max);
}
