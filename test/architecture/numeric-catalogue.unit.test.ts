// Every number of the direct API, compared in both directions with the promises to integrators.
import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../src/kernel/domain-error.js';
import { ERROR_CODES, type ErrorCode } from '../../src/kernel/error-codes.js';
import type { VendorReply, VendorStep } from '../../src/kernel/vendor-reply.js';
import { SURFACES } from '../../src/surfaces/all.js';
import { OLDER_CODES as CATALOGUE } from '../../src/surfaces/direct/older-codes.js';
import {
  ADDED_STATUSES,
  CREDIT_FILE_CODES,
  CURRENT_CODES,
  type NumericCode,
  OLDER_CODES,
  UPSTREAM_CASES,
} from './spec/numeric-codes.js';

interface Heard {
  readonly status: number;
  readonly code: number;
  readonly field: string | null;
  readonly message: string;
}

function heard(error: DomainError, url = '/api/idv/renters/r-1'): Heard {
  const { status, body } = SURFACES.reply(error, { id: 'an-id', url, routeOptions: {} as never });
  const whole = (typeof body === 'string' ? JSON.parse(body) : body) as {
    errors: { errorCode: number; errorOnField: string | null; errorMessage: string }[];
  };
  const [{ errorCode, errorOnField, errorMessage } = { errorCode: 0, errorOnField: null, errorMessage: '' }] =
    whole.errors;
  return { status, code: errorCode, field: errorOnField, message: errorMessage };
}

function refused(code: number | null, step: VendorStep, reply: Partial<VendorReply> = {}): DomainError {
  const whole = { status: 422, body: '{}', code, field: null, message: 'words of the vendor', ...reply };
  return new DomainError('vendor.refused', { vendor: { reply: whole, step } });
}

const fileCodes = CREDIT_FILE_CODES.flatMap(({ status, codes }) => codes.map((code) => ({ code, status })));
/** The message differs at registration and at a resend. */
const STEPS: readonly VendorStep[] = ['registration', 'answers', 'resend', 'report'];
const TOLD_OTHERWISE = new Map([[2502, ['registration', 'resend']]]);

describe('the older catalogue', () => {
  it.each(OLDER_CODES)('answers $code with $status and its message, whatever HTTP status the vendor sent', (row) => {
    for (const step of STEPS.filter((one) => !TOLD_OTHERWISE.get(row.code)?.includes(one)))
      for (const status of [200, 400, 401, 422, 500, 503])
        expect(heard(refused(row.code, step, { status }))).toEqual({ ...row, field: null });
  });

  it('answers 2502 with a general message when no answer was given', () => {
    for (const step of ['registration', 'resend'] as const)
      expect(heard(refused(2502, step))).toMatchObject({ status: 401, code: 2502, message: 'auth general error' });
  });

  it.each(fileCodes)(
    'answers $code of the credit file with $status and the message of the credit-file system',
    ({ code, status }) => {
      expect(heard(refused(code, 'report', { message: 'HOUSE NUMBER REQUIRED' }))).toEqual({
        code,
        status,
        field: null,
        message: 'HOUSE NUMBER REQUIRED',
      });
      expect(heard(refused(code, 'report', { message: null })).message).not.toBe('');
    },
  );

  it('has 24 and 18 codes of the credit file', () => {
    expect(CREDIT_FILE_CODES.map(({ codes }) => new Set(codes).size)).toEqual([24, 18]);
  });

  it.each(UPSTREAM_CASES)("answers the vendor's $number at $step with $code and $status", (expected) => {
    const { number, step, code, status } = expected;
    expect(heard(refused(number, step))).toMatchObject({ code, status });
  });

  it('has only promised codes', () => {
    const promised = [...OLDER_CODES, ...fileCodes].map(({ code }) => code);
    // This current number occurs only after a vendor's answer.
    expect([...CATALOGUE.keys()].sort(ascending)).toEqual([123, ...promised].sort(ascending));
    const said = (numbers: readonly number[], step: VendorStep): number[] =>
      numbers.filter((number) => ![121, 131].includes(heard(refused(number, step)).code));
    const numbers = Array.from({ length: 12_000 }, (_, number) => number);
    for (const step of [...STEPS, 'reauthentication'] as const) {
      const upstream = UPSTREAM_CASES.filter((one) => one.step === step || step === 'report').map(
        ({ number }) => number,
      );
      expect(said(numbers, step)).toEqual([...new Set([123, ...promised, ...upstream])].sort(ascending));
    }
  });
});

describe('the current catalogue', () => {
  const statusesOf = (code: number): number[] =>
    [...CURRENT_CODES, ...ADDED_STATUSES].filter((row) => row.code === code).flatMap(({ statuses }) => statuses);
  const below = (url: string): (Heard & { readonly when: ErrorCode })[] =>
    (Object.keys(ERROR_CODES) as ErrorCode[]).flatMap((when) =>
      [{}, { field: 'ssn' }].map((detail) => ({ when, ...heard(new DomainError(when, detail), url) })),
    );
  const idv = below('/api/idv/renters/r-1');

  it.each(CURRENT_CODES)('answers $code with $statuses', ({ code, statuses }) => {
    const said = [...idv, heard(refused(123, 'registration'))].filter((one) => one.code === code);
    for (const status of statuses) expect(said.map((one) => one.status)).toContain(status);
  });

  it('has only promised codes', () => {
    const older = new Map<number, NumericCode>(OLDER_CODES.map((row) => [row.code, row]));
    const odd = idv.filter(
      ({ code, status }) => !statusesOf(code).includes(status) && older.get(code)?.status !== status,
    );
    expect(odd).toEqual([]);
  });

  it('uses the HTTP status as the code below /api/pay, except for a wrong key and an unreadable body', () => {
    const said = below('/api/pay/payment/checkout-session').filter(
      ({ when }) => /^(?:request|service|account|checkout)\./.test(when) || when === 'party.locked',
    );
    const odd = said.filter(({ code, status }) => code !== status);
    expect([...new Set(odd.map(({ when, code }) => `${when} ${code}`))]).toEqual([
      'request.unreadable_body 121',
      'request.unauthenticated 324',
      'request.media_type 121',
    ]);
    for (const status of [400, 409, 423, 500, 503]) expect(said.map(({ code }) => code)).toContain(status);
  });
});

function ascending(one: number, other: number): number {
  return one - other;
}
