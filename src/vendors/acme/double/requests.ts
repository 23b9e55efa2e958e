// The requests that acme accepts, field by field. The double has its own code for the wire, and shares none with the adapter.
import { isIP } from 'node:net';
import { Problem } from './problems.js';

export interface PersonBody {
  readonly kind: 'consumer' | 'agent' | 'organization';
  readonly given_name?: string;
  readonly middle_name?: string;
  readonly family_name?: string;
  /** YYYY-MM-DD. */
  readonly birth_date?: string;
  readonly ssn?: string;
  readonly phone?: { readonly number?: string; readonly line?: 'mobile' | 'home' | 'work' };
  readonly email?: string;
  readonly organization?: string;
  readonly address?: {
    readonly line1?: string;
    readonly city?: string;
    readonly region?: string;
    readonly postal_code?: string;
    readonly country: 'US';
  };
}

export interface ConsentBody {
  /** ISO 8601 UTC. */
  readonly given_at: string;
  readonly text_version?: string;
}

export interface VerificationBody {
  readonly workflow: string;
  /** The client's name for the verification, which notices repeat. */
  readonly reference?: string;
  readonly person: PersonBody;
  readonly device: { readonly payload: string; readonly second_payload?: string; readonly ip?: string };
  readonly consent?: ConsentBody;
}

export interface ReportRequestBody {
  readonly person: PersonBody;
  readonly permissible_purpose: string;
  readonly end_user: { readonly reference: string; readonly kind?: 'landlord' | 'agent' | 'manager' };
  readonly consent?: ConsentBody;
}

export interface CheckBody extends Partial<ReportRequestBody> {
  readonly source: 'payroll' | 'bank';
  readonly reference?: string;
}

export interface CodeBody {
  readonly code: string;
}
export interface AnswersBody {
  /** The key of the chosen option, by the key of the question. */
  readonly answers: Readonly<Record<string, string>>;
}

const TEXT = { type: 'string' } as const;
const WORD = { type: 'string', minLength: 1, maxLength: 200 } as const;

const strict = (required: readonly string[], properties: object): object => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const NO_QUERY = strict([], {});

const PERSON = strict(['kind'], {
  kind: { type: 'string', enum: ['consumer', 'agent', 'organization'] },
  given_name: TEXT,
  middle_name: TEXT,
  family_name: TEXT,
  birth_date: TEXT,
  ssn: TEXT,
  phone: strict([], { number: TEXT, line: { type: 'string', enum: ['mobile', 'home', 'work'] } }),
  email: TEXT,
  organization: TEXT,
  address: strict(['country'], {
    line1: TEXT,
    city: TEXT,
    region: TEXT,
    postal_code: TEXT,
    country: { type: 'string', enum: ['US'] },
  }),
});
const CONSENT = strict(['given_at'], {
  text_version: WORD,
  given_at: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z$' },
});

export const VERIFICATION = {
  querystring: NO_QUERY,
  body: strict(['workflow', 'person', 'device'], {
    workflow: WORD,
    reference: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,80}$' },
    person: PERSON,
    device: strict(['payload'], { payload: TEXT, second_payload: TEXT, ip: TEXT }),
    consent: CONSENT,
  }),
};
export const CODE = { querystring: NO_QUERY, body: strict(['code'], { code: { type: 'string', maxLength: 20 } }) };
export const RESEND = { querystring: NO_QUERY, body: strict([], {}) };
export const ANSWERS = {
  querystring: NO_QUERY,
  body: strict(['answers'], { answers: { type: 'object', minProperties: 1, additionalProperties: WORD } }),
};
const ABOUT_PERSON = {
  person: PERSON,
  permissible_purpose: { type: 'string', enum: ['tenant_screening', 'employment', 'collection'] },
  end_user: strict(['reference'], {
    reference: WORD,
    kind: { type: 'string', enum: ['landlord', 'agent', 'manager'] },
  }),
  consent: CONSENT,
};
export const REPORT = {
  querystring: NO_QUERY,
  body: strict(['person', 'permissible_purpose', 'end_user'], ABOUT_PERSON),
};
/** Without a person, acme's page asks the person. */
export const CHECK = {
  querystring: NO_QUERY,
  body: strict(['source'], {
    source: { type: 'string', enum: ['payroll', 'bank'] },
    reference: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,80}$' },
    ...ABOUT_PERSON,
  }),
};
export const READ = { querystring: NO_QUERY };

const control = (required: readonly string[], properties: object): object => ({
  querystring: NO_QUERY,
  body: strict(required, properties),
});
const WAIT = { type: 'integer', minimum: 0, maximum: 86_400 } as const;
export const TROUBLE = control(['status', 'seconds'], {
  status: { type: 'integer', enum: [429, 503] },
  seconds: WAIT,
  retryAfter: WAIT,
});
export const CLOCK = control(['seconds'], { seconds: { type: 'integer', minimum: 1, maximum: 31_536_000 } });
export const DECISION = control(['decision'], { decision: { type: 'string', enum: ['approved', 'declined'] } });
export const NOTHING = control([], {});

/** Headers of HTTP itself, which proxies and clients add. */
const OF_HTTP =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|accept-encoding|accept-language|user-agent|cache-control|pragma|sec-fetch-mode|via|expect)$/;
const KNOWN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'authorization',
  'content-type',
  'idempotency-key',
  'x-request-id',
  // A header of the test environment only.
  'x-test-behaviour',
]);

/** Throws the problem of the first header that is wrong. */
export function checkHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): void {
  if (Object.keys(headers).some((name) => !KNOWN_HEADERS.has(name) && !OF_HTTP.test(name)))
    throw new Problem('unknown_header');
  const { accept } = headers;
  if (accept !== undefined && !/application\/(?:problem\+)?json|\*\/\*/.test(String(accept)))
    throw new Problem('not_acceptable');
}

export function keyOf(headers: Readonly<Record<string, string | string[] | undefined>>): string {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string' || !/^[\x21-\x7e]{16,64}$/.test(key)) throw new Problem('idempotency_key_missing');
  return key;
}

const NAME = /^(?=.*\p{L})[\p{L}\p{M}' .-]{1,60}$/u;

interface FieldRule {
  /** Below `/person`. */
  readonly pointer: string;
  readonly code: string;
  readonly pattern: RegExp;
  readonly optional?: true;
  readonly of: (person: PersonBody) => string | undefined;
}

const FIELDS: readonly FieldRule[] = [
  { pointer: 'given_name', code: 'invalid_given_name', pattern: NAME, of: (person) => person.given_name },
  { pointer: 'middle_name', code: 'invalid_middle_name', pattern: NAME, optional: true, of: (one) => one.middle_name },
  { pointer: 'family_name', code: 'invalid_family_name', pattern: NAME, of: (person) => person.family_name },
  { pointer: 'birth_date', code: 'invalid_birth_date', pattern: /^\d{4}-\d{2}-\d{2}$/, of: (one) => one.birth_date },
  { pointer: 'ssn', code: 'invalid_ssn', pattern: /^\d{9}$/, optional: true, of: (person) => person.ssn },
  { pointer: 'phone/number', code: 'invalid_phone', pattern: /^\+1\d{10}$/, of: ({ phone }) => phone?.number },
  {
    pointer: 'email',
    code: 'invalid_email',
    pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
    optional: true,
    of: (one) => one.email,
  },
  { pointer: 'address/line1', code: 'invalid_address', pattern: /\S/, of: ({ address }) => address?.line1 },
  { pointer: 'address/city', code: 'invalid_address', pattern: /\S/, of: ({ address }) => address?.city },
  { pointer: 'address/region', code: 'invalid_address', pattern: /^[A-Z]{2}$/, of: ({ address }) => address?.region },
  {
    pointer: 'address/postal_code',
    code: 'invalid_address',
    pattern: /^\d{5}(-\d{4})?$/,
    of: ({ address }) => address?.postal_code,
  },
];

/** Throws the problem of the first field that is wrong. `today`: YYYY-MM-DD. */
export function checkPerson(person: PersonBody, today: string): void {
  const refuse = (code: string, pointer: string): never => {
    throw new Problem(code, { pointer: `/person/${pointer}` });
  };
  for (const { pointer, code, pattern, optional, of } of FIELDS) {
    const value = of(person);
    if (!(optional && value === undefined) && !pattern.test(value ?? '')) refuse(code, pointer);
  }
  const { kind, ssn, birth_date = '' } = person;
  if (!exists(birth_date) || birth_date > today) refuse('invalid_birth_date', 'birth_date');
  if (kind === 'consumer' && ssn === undefined) refuse('ssn_required', 'ssn');
}

export function checkDevice({ payload, second_payload, ip }: VerificationBody['device']): void {
  const refuse = (field: string): never => {
    throw new Problem('invalid_device', { pointer: `/device/${field}` });
  };
  if (payload === '') refuse('payload');
  if (second_payload === '') refuse('second_payload');
  if (ip !== undefined && isIP(ip) === 0) refuse('ip');
}

function exists(day: string): boolean {
  const time = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day);
}
