// The double in its certification: the roles of its requests, and its personas with the verdicts that they must get.
import type {
  CertifiedDouble,
  CertifiedPersona,
  ExpectedVerdict,
} from '../../../vendor-kit/double/certified-double.js';
import { AcmeDouble } from './acme.js';
import { type ProblemFacts, problemBody } from './problems.js';

const clientId = 'certified-client-of-acme';
const clientSecret = 'certified-secret-of-acme';

const error = (operation: string, code: string, verdict: ExpectedVerdict | string, facts: ProblemFacts = {}) => {
  const body = problemBody(code, facts);
  return { operation, status: body.status, body, verdict: typeof verdict === 'string' ? { kind: verdict } : verdict };
};
const inputRefused = (code: string, input: string, pointer?: string) =>
  error('register', code, { kind: 'input-refused', input }, pointer === undefined ? {} : { pointer });

/** acme executed nothing. */
const NOT_EXECUTED = ['rate_limited', 'overloaded', 'token_invalid', 'source_unavailable'];

export const double: CertifiedDouble = {
  roles: {
    token: ['POST /oauth/token'],
    submit: ['POST /v1/verifications', 'POST /v1/income-checks'],
    verdict: ['GET /v1/verifications/*', 'GET /v1/reports/*', 'GET /v1/income-checks/*'],
    answer: [
      'POST /v1/verifications/*/code',
      'POST /v1/verifications/*/answers',
      'POST /v1/verifications/*/code/resend',
    ],
    outcome: ['GET /v1/requests/*'],
    report: ['POST /v1/reports'],
  },
  errors: [
    inputRefused('invalid_given_name', 'first-name'),
    inputRefused('invalid_middle_name', 'middle-name'),
    inputRefused('invalid_family_name', 'last-name'),
    inputRefused('invalid_birth_date', 'date-of-birth'),
    inputRefused('ssn_required', 'ssn-missing'),
    inputRefused('invalid_ssn', 'ssn'),
    inputRefused('invalid_phone', 'phone'),
    inputRefused('invalid_email', 'email'),
    inputRefused('invalid_device', 'device'),
    inputRefused('address_unknown', 'address'),
    inputRefused('more_data_needed', 'more-identification'),
    inputRefused('malformed_request', 'unspecified'),
    inputRefused('invalid_address', 'address'),
    inputRefused('invalid_address', 'address', '/person/address/line1'),
    inputRefused('invalid_address', 'city', '/person/address/city'),
    inputRefused('invalid_address', 'state', '/person/address/region'),
    inputRefused('invalid_address', 'zip', '/person/address/postal_code'),
    error('register', 'product_not_enabled', 'product-not-enabled'),
    error('register', 'internal_error', 'unintelligible'),
    ...NOT_EXECUTED.flatMap((code) => [
      error('register', code, 'unavailable'),
      error('verifyOtp', code, 'unavailable'),
      error('pullReport', code, 'unavailable'),
    ]),
    error('verifyOtp', 'code_incorrect', { kind: 'wrong', attemptsRemaining: null }),
    error('verifyOtp', 'code_incorrect', { kind: 'wrong', attemptsRemaining: 2 }, { attempts_left: 2 }),
    error('verifyOtp', 'verification_locked', { kind: 'locked', unblockAt: null }),
    error(
      'verifyOtp',
      'verification_locked',
      { kind: 'locked', unblockAt: '2031-02-03T04:05:06.000Z' },
      { unlocks_at: '2031-02-03T05:05:06+01:00' },
    ),
    error('verifyOtp', 'verification_closed', 'session-over'),
    error('verifyKba', 'answers_incorrect', 'wrong'),
    error('resendOtp', 'method_not_offered', 'unintelligible'),
    error('pullReport', 'invalid_ssn', { kind: 'refused', reason: 'FILE_CONDITION' }),
    error('pullReport', 'invalid_address', { kind: 'refused', reason: 'FILE_CONDITION' }),
    error('pullReport', 'product_not_enabled', 'unintelligible'),
    error('start', 'overloaded', 'unavailable'),
    error('outcomeOf', 'not_found', 'unintelligible'),
  ],
  code: { right: '123456', wrong: '999999' },
  answers: (questions, right) =>
    questions.map(({ id, answers }) => ({ questionId: id, answerId: right ? id : answers.length })),
  async act(opening, double) {
    if ('url' in opening) await fetch(new URL(new URL(opening.url).pathname, double), { method: 'POST' });
  },
  start(folder) {
    const part = new AcmeDouble({ folder, clientId, clientSecret, retryAfter: null, slowMs: 300 });
    return { part, settings: (url) => ({ url, clientId, clientSecret }), understood: (key) => part.understood(key) };
  },
};

const confirmed = { kind: 'confirmed' };
const named = (lastName: string) => ({ person: { lastName } });
const refused = (reason: string) => ({ kind: 'refused', reason });

export const personas: readonly CertifiedPersona[] = [
  { registration: confirmed, report: { kind: 'report' }, income: { route: 'PAYROLL', verdict: { kind: 'completed' } } },
  { income: { route: 'BANKING', verdict: { kind: 'completed' } } },
  { ...named('documenttest'), registration: { kind: 'needs-user' } },
  { ...named('payrolltest'), income: { route: 'PAYROLL', verdict: { kind: 'needs-user' } } },
  { ...named('noincometest'), income: { route: 'PAYROLL', verdict: { kind: 'failed', reason: 'NO_MATCH' } } },
  { ...named('slowtest'), registration: confirmed },
  { ...named('otptest'), registration: { kind: 'step-up', otp: true, kba: null } },
  { ...named('kbatest'), registration: { kind: 'step-up', otp: false } },
  { ...named('notfound'), registration: refused('IDENTITY_NOT_FOUND') },
  { ...named('sanctiontest'), registration: refused('SANCTIONS_MATCH') },
  { ...named('addresstest'), registration: { kind: 'input-refused', input: 'address' } },
  { ...named('reviewtest'), registration: { kind: 'under-review' } },
  { ...named('frozentest'), report: refused('FILE_FROZEN') },
  { ...named('nohittest'), report: refused('NO_RECORD') },
];
