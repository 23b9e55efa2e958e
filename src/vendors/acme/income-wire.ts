// The wire format of acme's income checks: writes requests, and reads outcomes.
import * as v from 'valibot';
import type { VendorSubject } from '../../kernel/vendor-subject.js';
import type { IncomeOutcome, IncomeRoute, IncomeStart } from '../../ports/income-vendor.js';
import { readerOf } from '../../vendor-kit/http/answer.js';
import { date, instant, listOf, read, text, textLike, webAddress } from '../../vendor-kit/reading.js';
import { dollars, reportRequest } from './credit-wire.js';
import { noVerdict, problemOf } from './problems.js';

const SOURCES: Readonly<Record<IncomeRoute, string>> = { PAYROLL: 'payroll', BANKING: 'bank' };
const CYCLES = { weekly: 'WEEKLY', biweekly: 'BIWEEKLY', semimonthly: 'SEMIMONTHLY', monthly: 'MONTHLY' } as const;

const id = textLike(/^inc_[0-9a-f]{32}$/);
const started = v.object({ id, state: text });
const check = v.variant('state', [
  v.object({ id, state: v.literal('awaiting_person'), link: v.object({ url: webAddress, expires_at: instant }) }),
  v.object({ id, state: v.literal('collecting') }),
  v.object({ id, state: v.picklist(['no_record', 'link_expired']) }),
  v.object({ id, state: v.literal('source_failed') }),
  v.object({
    id,
    state: v.literal('ready'),
    jobs: listOf(
      v.pipe(
        v.object({ employer: text, position: v.nullable(text), from: v.nullable(date), to: v.nullable(date) }),
        v.transform(({ employer, position, from, to }) => ({
          name: employer,
          title: position,
          startedOn: from,
          endedOn: to,
        })),
      ),
      100,
    ),
    pay: v.object({
      yearly: dollars,
      currency: v.pipe(textLike(/^[A-Z]{3}$/), v.toLowerCase()),
      cycle: v.pipe(
        v.picklist(['weekly', 'biweekly', 'semimonthly', 'monthly']),
        v.transform((cycle) => CYCLES[cycle]),
      ),
    }),
    stubs: listOf(
      v.pipe(
        v.object({ paid_on: date, gross: dollars, net: dollars }),
        v.transform(({ paid_on, gross, net }) => ({ payDate: paid_on, grossCents: gross, netCents: net })),
      ),
      500,
    ),
  }),
]);

/** Without a person, acme's page asks the person for the name. */
export function checkRequest(route: IncomeRoute, subject: VendorSubject | null, reference: string | undefined): object {
  const about = subject?.person.kind === 'applicant' ? reportRequest(subject.person.applicant, subject) : {};
  return { source: SOURCES[route], reference, ...about };
}

const ERRORS = {
  reader({ body }: { readonly body: unknown }) {
    const problem = problemOf(body);
    return problem && noVerdict(problem.code);
  },
};

export const readStarted = readerOf<IncomeStart>(ERRORS, ({ status, body }) => {
  const said = status === 201 ? read(started, body) : null;
  return said && { kind: 'started', inquiry: said.id };
});

/** An answer about another check is refused, because the answer could be another person's income. */
export const outcomeReader = (inquiry: string) =>
  readerOf<IncomeOutcome>(ERRORS, ({ status, body }) => {
    const said = status === 200 ? read(check, body) : null;
    return said?.id === inquiry ? outcomeOf(said) : null;
  });

function outcomeOf(said: v.InferOutput<typeof check>): IncomeOutcome {
  switch (said.state) {
    case 'awaiting_person':
      return { kind: 'needs-user', open: { url: said.link.url }, until: said.link.expires_at };
    case 'collecting':
      return { kind: 'in-progress' };
    case 'no_record':
    case 'link_expired':
      return { kind: 'failed', reason: 'NO_MATCH' };
    case 'source_failed':
      return { kind: 'failed', reason: 'VENDOR_ERROR' };
    case 'ready': {
      const { jobs: employers, pay, stubs: paystubs } = said;
      const income = { annualGrossCents: pay.yearly, currency: pay.currency, payFrequency: pay.cycle };
      return { kind: 'completed', report: { employers, income, paystubs } };
    }
    default:
      return said satisfies never;
  }
}
