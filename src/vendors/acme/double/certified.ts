// The double in its certification: the roles of its requests, and its personas with the verdicts that they must get.
import type { CertifiedDouble, CertifiedPersona } from '../../../vendor-kit/double/certified-double.js';
import { AcmeDouble } from './acme.js';
import { problemBody } from './problems.js';

const clientId = 'certified-client-of-acme';
const clientSecret = 'certified-secret-of-acme';

const error = (operation: string, code: string, kind: string, facts: object = {}) => {
  const body = problemBody(code);
  return { operation, status: body.status, body, verdict: { kind, ...facts } };
};

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
    error('register', 'invalid_ssn', 'input-refused', { input: 'ssn' }),
    error('register', 'invalid_address', 'input-refused', { input: 'address' }),
    error('register', 'product_not_enabled', 'product-not-enabled'),
    error('register', 'internal_error', 'unintelligible'),
    error('register', 'overloaded', 'unavailable'),
    error('verifyOtp', 'verification_locked', 'locked'),
    error('verifyOtp', 'verification_closed', 'session-over'),
    error('verifyKba', 'answers_incorrect', 'wrong'),
    error('resendOtp', 'method_not_offered', 'unintelligible'),
    error('pullReport', 'invalid_ssn', 'refused', { reason: 'FILE_CONDITION' }),
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
