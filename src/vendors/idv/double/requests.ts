// The bodies that the vendor accepts, field by field. Any other field is refused by name.
import { isIP } from 'node:net';
import type { GivenAnswer } from './step-up.js';

export interface RegistrationBody {
  readonly userType: 'CONSUMER' | 'AGENT' | 'PMC';
  readonly firstName?: string;
  readonly middleName?: string;
  readonly lastName?: string;
  readonly dateOfBirth?: string;
  readonly ssn?: string;
  readonly phone?: { readonly number?: string; readonly type?: 'C' | 'H' | 'W' };
  readonly email?: string;
  readonly companyName?: string;
  readonly mothersMaidenName?: string;
  readonly spouseName?: string;
  readonly propertyZip?: string;
  readonly productId?: number;
  readonly address?: Readonly<Partial<Record<'street' | 'city' | 'state' | 'zip', string>>>;
  readonly ipAddress?: string;
  readonly device: { readonly jsc: string; readonly hdim?: string };
  readonly termsAcceptedAt?: string;
}
export interface OtpBody {
  readonly code: string;
}
export interface KbaBody {
  readonly answers: readonly GivenAnswer[];
}
export interface PersonBody {
  readonly userToken: string;
}
export interface AuthenticationBody extends PersonBody {
  readonly device?: { readonly jsc?: string; readonly hdim?: string };
  readonly ipAddress?: string;
}
export interface LiftedFreezeBody {
  readonly ssn?: string;
}
export interface ReportBody {
  /** The token of a confirmed person. */
  readonly session: string;
}

const token = { type: 'string', minLength: 1, maxLength: 4_000 };
const MAX_FINGERPRINT = 4_000;
const fingerprint = { type: 'string', minLength: 1, maxLength: MAX_FINGERPRINT };

function strict(required: object, optional: object = {}): object {
  return {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(required),
    properties: { ...required, ...optional },
  };
}

const NO_QUERY = strict({});

/** The rule for each field of a registration. Missing or malformed data get numbers of their own (registration-data.ts). */
const data = { type: 'string', maxLength: 255 };
const address = strict({}, { street: { type: 'string' }, city: data, state: data, zip: data });

export const REGISTRATION = {
  querystring: NO_QUERY,
  body: strict(
    {
      userType: { type: 'string', enum: ['CONSUMER', 'AGENT', 'PMC'] },
      device: strict({ jsc: fingerprint }, { hdim: fingerprint }),
    },
    {
      firstName: data,
      middleName: data,
      lastName: data,
      dateOfBirth: data,
      ssn: data,
      phone: strict({}, { number: data, type: { type: 'string', enum: ['C', 'H', 'W'] } }),
      email: data,
      companyName: data,
      mothersMaidenName: data,
      spouseName: data,
      propertyZip: data,
      productId: { type: 'integer' },
      address,
      ipAddress: data,
      termsAcceptedAt: { ...data, format: 'date-time' },
    },
  ),
};

export const OTP = { querystring: NO_QUERY, body: strict({ code: { type: 'string', pattern: '^[0-9]{4,8}$' } }) };

export const OTP_RESEND = { querystring: NO_QUERY, body: strict({}) };

const id = { type: 'integer', minimum: 1 };
export const KBA = {
  querystring: NO_QUERY,
  body: strict({
    answers: { type: 'array', minItems: 1, maxItems: 20, items: strict({ questionId: id, answerId: id }) },
  }),
};

export const PERSON = { querystring: NO_QUERY, body: strict({ userToken: token }) };

const anyText = { type: 'string' };
/** Missing or malformed device data get a number of their own. */
export const AUTHENTICATION = {
  querystring: NO_QUERY,
  body: strict(
    { userToken: token },
    {
      device: strict({}, { jsc: anyText, hdim: anyText }),
      ipAddress: anyText,
      address,
    },
  ),
};

/**
 * The first field that a passive authentication requires and that is missing or invalid; null if all are valid. `deviceless`: no person uses a
 * device.
 */
export function unusableField({ device, ipAddress }: AuthenticationBody, deviceless: boolean): string | null {
  if (!(deviceless && device?.jsc === undefined) && !isFingerprint(device?.jsc ?? '')) return 'device.jsc';
  if (device?.hdim !== undefined && !isFingerprint(device.hdim)) return 'device.hdim';
  return ipAddress !== undefined && isIP(ipAddress) === 0 ? 'ipAddress' : null;
}

function isFingerprint(text: string): boolean {
  return text !== '' && text.length <= MAX_FINGERPRINT;
}

/** A control for tests. Without an SSN it applies to every person. */
export const LIFTED_FREEZE = {
  querystring: NO_QUERY,
  body: strict({}, { ssn: { type: 'string', pattern: '^[0-9]{9}$' } }),
};
export const OUTCOME = { querystring: NO_QUERY };
export const REPORT = { querystring: NO_QUERY, body: strict({ session: token }) };
