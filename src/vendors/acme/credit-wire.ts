// The wire format of acme's reports: writes requests, and reads and checks reports.
import * as v from 'valibot';
import type { EndUserType } from '../../kernel/end-user-type.js';
import type { PermissiblePurpose } from '../../kernel/permissible-purpose.js';
import type { KeptApplicant, VendorSubject } from '../../kernel/vendor-subject.js';
import type { ReportRefusal, ReportVerdict } from '../../ports/credit-bureau.js';
import { type VendorAnswer, readerOf } from '../../vendor-kit/http/answer.js';
import { date, listOf, read, text, textLike, whole } from '../../vendor-kit/reading.js';
import { personBody } from './person-wire.js';
import { problemOf, reportProblem } from './problems.js';
import type { Accepted, Settled } from './accepted.js';

const PURPOSES: Readonly<Record<PermissiblePurpose, string>> = {
  TENANT_SCREENING: 'tenant_screening',
  LEASE_RENEWAL: 'tenant_screening',
};
const END_USERS: Readonly<Record<EndUserType, string>> = {
  INDEPENDENT_OWNER: 'landlord',
  REAL_ESTATE_AGENT: 'agent',
  PROPERTY_MANAGEMENT: 'manager',
};

const NOT_AVAILABLE: Readonly<Record<string, ReportRefusal>> = {
  frozen: 'FILE_FROZEN',
  blocked: 'FILE_BLOCKED',
  no_file: 'NO_RECORD',
  minor: 'MINOR',
  disputed: 'FILE_CONDITION',
};

/** The texts of the reasons for a score. An unlisted reason is shown in acme's words. */
const FACTORS: Readonly<Record<string, string>> = {
  utilization_high: 'Large part of the credit limits is used',
  history_short: 'Short history of credit',
  inquiries_many: 'Many recent inquiries',
  payments_late: 'Late payments',
  accounts_few: 'Few accounts',
};

const ALERTS: Readonly<Record<string, string>> = { address_new: 'ADDRESS_MISMATCH', active_duty: 'ACTIVE_DUTY' };

const MOST_LINES = 1_000;
const MOST_RECORDS = 500;

/** A word of acme, in the form of the service's words. */
const word = v.pipe(textLike(/^[a-z][a-z_]{0,59}$/), v.toUpperCase());
const spoken = v.pipe(
  textLike(/^[a-z][a-z_]{0,59}$/),
  v.transform(
    (reason) => (Object.hasOwn(FACTORS, reason) ? FACTORS[reason] : undefined) ?? reason.replaceAll('_', ' '),
  ),
);
/** Dollars with two decimals, as text. */
export const dollars = v.pipe(
  textLike(/^\d{1,9}\.\d{2}$/),
  v.transform((said) => Number(said.replace('.', ''))),
);
const points = whole(0, 10_000);

const score = v.pipe(
  v.object({
    value: points,
    model: text,
    scale: v.object({ low: points, high: points }),
    reasons: listOf(spoken, 10),
    as_of: date,
  }),
  v.check(({ value, scale }) => scale.low <= value && value <= scale.high),
  v.transform(({ value, model, scale, reasons, as_of }) => ({
    value,
    model,
    min: scale.low,
    max: scale.high,
    factors: reasons,
    date: as_of,
  })),
);

const consumer = v.pipe(
  v.object({
    display_name: text,
    addresses: listOf(text, 50),
    birth_year: v.nullable(whole(1_850, 2_200)),
    ssn_tail: v.optional(textLike(/^\d{4}$/)),
  }),
  v.transform(({ display_name, addresses, birth_year, ssn_tail }) => ({
    name: display_name,
    addresses,
    birthYear: birth_year,
    ssnLastFour: ssn_tail,
  })),
);

const tradeline = v.pipe(
  v.object({
    lender: text,
    kind: word,
    account_tail: textLike(/^\d{1,4}$/),
    opened: date,
    state: word,
    balance: dollars,
    limit: v.nullable(dollars),
    past_due: dollars,
    months: textLike(/^[A-Z0-9]{0,240}$/),
  }),
  v.transform(({ lender, kind, account_tail, opened, state, balance, limit, past_due, months }) => ({
    creditor: lender,
    type: kind,
    account: account_tail,
    openedOn: opened,
    status: state,
    balanceCents: balance,
    limitCents: limit,
    pastDueCents: past_due,
    paymentHistory: months,
  })),
);

const publicRecord = v.pipe(
  v.object({ kind: word, court: text, filed: date, state: word, amount: v.nullable(dollars) }),
  v.transform(({ kind, court, filed, state, amount }) => ({
    type: kind,
    court,
    filedOn: filed,
    status: state,
    amountCents: amount,
  })),
);

const inquiry = v.pipe(
  v.object({ by: text, on: date, purpose: text }),
  v.transform(({ by, on, purpose }) => ({ subscriber: by, date: on, purpose })),
);

const notice = v.pipe(
  v.object({ kind: textLike(/^[a-z][a-z_]{0,59}$/), on: v.optional(date) }),
  v.transform(({ kind, on }) => ({
    type: (Object.hasOwn(ALERTS, kind) ? ALERTS[kind] : undefined) ?? kind.toUpperCase(),
    date: on,
  })),
);

const id = textLike(/^rep_[0-9a-f]{32}$/);
const assembling = v.object({ id, state: v.literal('assembling') });
const finished = v.variant('state', [
  v.object({ id, state: v.literal('not_available'), reason: v.string() }),
  v.object({
    id,
    state: v.literal('ready'),
    score: v.nullable(score),
    consumer,
    notices: listOf(notice, 50),
    tradelines: listOf(tradeline, MOST_LINES),
    public_records: listOf(publicRecord, MOST_RECORDS),
    inquiries: listOf(inquiry, MOST_RECORDS),
  }),
]);

export function reportRequest(
  applicant: KeptApplicant,
  { purpose, endUserType, askedBy, consent }: VendorSubject,
): object {
  return {
    person: personBody(applicant),
    permissible_purpose: PURPOSES[purpose],
    end_user: { reference: askedBy, ...(endUserType !== null && { kind: END_USERS[endUserType] }) },
    ...(consent.acceptedAt !== null && {
      consent: { given_at: consent.acceptedAt, text_version: consent.termsVersion ?? undefined },
    }),
  };
}

export const readOrdered = readerOf<Accepted | ReportVerdict>(
  {
    reader({ body }) {
      const problem = problemOf(body);
      return problem && reportProblem(problem);
    },
  },
  ({ status, body, retryAfterSeconds }) => {
    const said = status === 202 ? read(assembling, body) : null;
    return said && { kind: 'accepted', path: `/v1/reports/${said.id}`, firstLookAfter: retryAfterSeconds };
  },
);

export function isAssembling({ status, body }: VendorAnswer): boolean {
  return status === 200 && read(assembling, body) !== null;
}

export const readReport = readerOf<Settled<ReportVerdict>>({}, ({ status, body }) => {
  const said = status === 200 ? read(finished, body) : null;
  return said && { kind: 'settled', verdict: verdictOf(said) };
});

function verdictOf(said: v.InferOutput<typeof finished>): ReportVerdict {
  if (said.state === 'not_available') {
    const reason = Object.hasOwn(NOT_AVAILABLE, said.reason) ? NOT_AVAILABLE[said.reason] : undefined;
    return reason === undefined ? { kind: 'unintelligible' } : { kind: 'refused', reason, upstreamCode: null };
  }
  const { score, consumer, notices, tradelines, public_records, inquiries } = said;
  return {
    kind: 'report',
    score,
    report: {
      consumer,
      alerts: notices,
      tradeLines: tradelines,
      publicRecords: public_records,
      inquiries,
      background: null,
      housingCourt: null,
    },
  };
}
