// The double in its certification: the roles of its requests, and its personas with the verdicts that they must get.
import type { CertifiedDouble, CertifiedPersona } from '../../../vendor-kit/double/certified-double.js';
import { SandboxIdentityVendor } from './identity-vendor.js';
import type { RegistrationBody } from './requests.js';
import { UPSTREAM_CODES } from './upstream-codes.js';
import { QUESTIONS, RIGHT_OTP_CODE } from './step-up.js';

const credential = 'certified-credential-of-idv';
const error = (code: number) => ({ error: { code, message: 'in the words of the vendor' } });
const wordy = (code: string) => ({ error: { code } });
/** Each number that the vendor documents, as the answer to each kind of request. behaviour.json tells the verdicts. */
const documented = ['register', 'verifyOtp', 'reauthenticate', 'pullReport'].flatMap((operation) =>
  Object.entries(UPSTREAM_CODES).map(([code, { status }]) => ({ operation, status, body: error(Number(code)) })),
);
/** The names of the fields with which the vendor explains that it refuses an input. */
const FIELDS = [
  'firstName',
  'middleName',
  'lastName',
  'dateOfBirth',
  'ssn',
  'phone.number',
  'email',
  'companyName',
  'address.street',
  'address.city',
  'address.state',
  'address.zip',
  'device.jsc',
];

export const double: CertifiedDouble = {
  roles: {
    submit: [
      'POST /identity/v1/registrations',
      'POST /identity/v1/authentications',
      'POST /identity/v1/authentications/expire',
    ],
    verdict: ['POST /identity/v1/authentications/status'],
    answer: [
      'POST /identity/v1/sessions/*/otp',
      'POST /identity/v1/sessions/*/otp/resend',
      'POST /identity/v1/sessions/*/kba',
    ],
    outcome: ['GET /identity/v1/outcomes/*'],
    report: ['POST /credit/v1/reports'],
  },
  errors: [
    { operation: 'register', status: 422, body: error(18), verdict: { kind: 'refused', reason: 'FRAUD_REPORTED' } },
    { operation: 'register', status: 422, body: error(2018), verdict: { kind: 'refused', reason: 'FRAUD_REPORTED' } },
    { operation: 'register', status: 400, body: error(45), verdict: { kind: 'input-refused', input: 'last-name' } },
    { operation: 'register', status: 422, body: error(2501), verdict: { kind: 'locked' } },
    { operation: 'register', status: 503, body: error(258), verdict: { kind: 'unavailable' } },
    { operation: 'register', status: 422, body: error(31_337), verdict: { kind: 'unintelligible' } },
    { operation: 'verifyOtp', status: 422, body: error(3008), verdict: { kind: 'wrong' } },
    { operation: 'verifyOtp', status: 422, body: error(710), verdict: { kind: 'session-over' } },
    { operation: 'verifyOtp', status: 422, body: error(407), verdict: { kind: 'unintelligible' } },
    { operation: 'pullReport', status: 422, body: error(9116), verdict: { kind: 'refused', reason: 'FILE_BLOCKED' } },
    { operation: 'pullReport', status: 422, body: error(9010), verdict: { kind: 'session-over' } },
    { operation: 'pullReport', status: 422, body: error(31_337), verdict: { kind: 'unintelligible' } },
    ...documented,
    ...FIELDS.map((field) => ({ operation: 'register', status: 400, body: { error: { code: 708, field } } })),
    { operation: 'register', status: 409, body: wordy('key_closed'), verdict: { kind: 'unavailable' } },
    { operation: 'register', status: 409, body: wordy('call_in_progress'), verdict: { kind: 'timed-out' } },
    {
      operation: 'verifyOtp',
      status: 423,
      body: { userAuthenticated: false },
      verdict: { kind: 'locked', unblockAt: null },
    },
    {
      operation: 'verifyOtp',
      status: 423,
      body: { userAuthenticated: false, unblockAt: '2031-02-03T05:05:06+01:00' },
      verdict: { kind: 'locked', unblockAt: '2031-02-03T04:05:06.000Z' },
    },
  ],
  code: { right: RIGHT_OTP_CODE, wrong: '999999' },
  answers: (_questions, right) => QUESTIONS.map(({ id }) => ({ questionId: id, answerId: right ? id : 5 })),
  start(folder) {
    const registrations = new Map<string, RegistrationBody>();
    const part = new SandboxIdentityVendor({
      folder,
      credential,
      onRegistration: (key, body) => void registrations.set(key, body),
    });
    return {
      part,
      settings: (url) => ({ url, credential }),
      understood(key) {
        const body = registrations.get(key);
        if (body === undefined) return null;
        const { phone, device, ...rest } = body;
        return { ...rest, phoneNumber: phone?.number ?? '', phoneType: phone?.type ?? 'C', jscPayload: device.jsc };
      },
    };
  },
};

const confirmed = { kind: 'confirmed' };
const named = (lastName: string) => ({ person: { lastName } });

export const personas: readonly CertifiedPersona[] = [
  { registration: confirmed, reauthentication: { kind: 'step-up' }, report: { kind: 'report' } },
  { ...named('alreadytest'), registration: { ...confirmed, duplicateGuard: true } },
  { ...named('otptest'), registration: { kind: 'step-up', otp: true, kba: null } },
  { ...named('kbatest'), registration: { kind: 'step-up', otp: false } },
  { ...named('notfound'), registration: { kind: 'refused', reason: 'IDENTITY_NOT_FOUND' } },
  { ...named('sanctiontest'), registration: { kind: 'refused', reason: 'SANCTIONS_MATCH' } },
  { ...named('deceasedtest'), registration: { kind: 'refused', reason: 'DECEASED' } },
  { ...named('addresstest'), registration: { kind: 'input-refused', input: 'address' } },
  { ...named('frozentest'), registration: confirmed, report: { kind: 'refused', reason: 'FILE_FROZEN' } },
  { ...named('nohittest'), registration: confirmed, report: { kind: 'refused', reason: 'NO_RECORD' } },
];
