// The credit bureau's wire format: the request written, the report read and checked. Used by http.ts only.
import type { CreditScore, ReportVerdict, VendorReport } from '../../ports/credit-bureau.js';
import { type VendorAnswer, upstreamCode, withReply } from '../../vendor-kit/answer.js';
import {
  type Reader,
  cents,
  date,
  fields,
  listOf,
  orNull,
  readWith,
  text,
  textLike,
  whole,
} from '../../vendor-kit/reading.js';
import { verdictOfCode } from './credit-codes.js';

const UNINTELLIGIBLE = { kind: 'unintelligible' } as const;

const MOST_LINES = 1_000;
const MOST_RECORDS = 500;
const MOST_FACTORS = 10;
const MOST_ADDRESSES = 50;

const scoreFields = fields<CreditScore>({
  value: whole(0, 10_000),
  model: text,
  min: whole(0, 10_000),
  max: whole(0, 10_000),
  factors: listOf(text, MOST_FACTORS),
  date,
});

const report = fields<VendorReport>({
  consumer: fields({ name: text, addresses: listOf(text, MOST_ADDRESSES), birthYear: orNull(whole(1_850, 2_200)) }),
  tradeLines: listOf(
    fields({
      creditor: text,
      type: text,
      // A number in full is more than was asked for: it must not be passed on.
      account: textLike(/^\d{1,4}$/),
      openedOn: date,
      status: text,
      balanceCents: cents,
      limitCents: orNull(cents),
      pastDueCents: cents,
      paymentHistory: textLike(/^[A-Za-z0-9]{0,240}$/),
    }),
    MOST_LINES,
  ),
  publicRecords: listOf(
    fields({ type: text, court: text, filedOn: date, status: text, amountCents: orNull(cents) }),
    MOST_RECORDS,
  ),
  inquiries: listOf(fields({ subscriber: text, date, purpose: text }), MOST_RECORDS),
  background: listOf(
    fields({ jurisdiction: text, offense: text, severity: text, date, disposition: text }),
    MOST_RECORDS,
  ),
  housingCourt: listOf(
    fields({ court: text, caseType: text, filedOn: date, outcome: text, judgmentCents: orNull(cents) }),
    MOST_RECORDS,
  ),
});

const answerBody: Reader<{ readonly score: CreditScore | null; readonly report: VendorReport }> = fields({
  score: orNull(scoreFields),
  report,
});

export function reportRequest(person: string): object {
  return { session: person };
}

/** The upstream's number says more than the status. */
export function readReport(answer: VendorAnswer): ReportVerdict {
  return withReply(verdictOf(answer), answer);
}

function verdictOf(answer: VendorAnswer): ReportVerdict {
  if (answer.status !== 200) {
    const code = upstreamCode(answer);
    return (code === null ? null : verdictOfCode(code)) ?? UNINTELLIGIBLE;
  }
  const body = readWith(answerBody, answer.body);
  if (body === null || !isOnItsScale(body.score)) return UNINTELLIGIBLE;
  return { kind: 'report', score: body.score, report: body.report };
}

function isOnItsScale(score: CreditScore | null): boolean {
  return score === null || (score.min <= score.value && score.value <= score.max);
}
