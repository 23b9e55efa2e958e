// The errors that callers of a surface with string codes receive (docs/contract/general.md#errors).
import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import { answerOf } from '../../../src/vendor-kit/http/answer.js';
import { readRegistration } from '../../../src/vendors/idv/identity-wire.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { refusalOf } from '../../../src/modules/screening/application/refusals.js';
import { SURFACES } from '../../../src/surfaces/all.js';
import type { Session } from '../../../src/modules/screening/domain/session.js';
import { record, submitted } from '../screening/sessions.js';

interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly field?: string };
}

const REQUEST_ID = '01a2169b-372e-7002-b730-100934707a68';

const replyTo = (error: DomainError): { readonly status: number; readonly body: ErrorBody } =>
  SURFACES.reply(error, { id: REQUEST_ID, url: '/' }) as ReturnType<typeof replyTo>;

describe('the reply to a domain error', () => {
  it('states in its message the rule of the first invalid field', () => {
    const details = [
      { field: 'phoneNumber', message: 'must have ten digits and not begin with 1' },
      { field: 'currentZip', message: 'must have five digits' },
    ];
    expect(replyTo(new DomainError('screening.field_format', { field: 'phoneNumber', details })).body).toEqual({
      error: {
        code: 'VALIDATION_INVALID_FIELD_FORMAT',
        message: 'phoneNumber must have ten digits and not begin with 1.',
        field: 'phoneNumber',
        details,
        recoverable: true,
        request_id: REQUEST_ID,
      },
    });
  });

  it('states in a 429 the time of the next try, if waiting helps', () => {
    const rule = 'Too many requests: the limit is 5 submissions of one person an hour (SUBMITS_PER_HOUR_PER_PERSON).';
    const messageOf = (...error: ConstructorParameters<typeof DomainError>): string =>
      replyTo(new DomainError(...error)).body.error.message;
    jest.useFakeTimers({ now: new Date('2026-11-26T10:00:00Z') });
    expect(messageOf('request.rate_limited', { rule, retryAfterSeconds: 90 })).toBe(
      `${rule} Try again after 2026-11-26T10:01:30.000Z.`,
    );
    expect(messageOf('screening.resend_too_early', { retryAfterSeconds: 1 })).toBe(
      'A code was just sent. Try again after 2026-11-26T10:00:01.000Z.',
    );
    expect(messageOf('screening.too_many_resends')).toBe('Too many attempts in this session.');
    jest.useRealTimers();
  });

  it('links to its code in the documents, if documents are served', () => {
    const reply = SURFACES.documentedAt('https://docs.example.test').reply(new DomainError('request.forbidden'), {
      id: REQUEST_ID,
      url: '/v1/sessions',
    });
    expect(reply.body).toMatchObject({ error: { doc_url: 'https://docs.example.test/errors#AUTH_FORBIDDEN' } });
    expect(replyTo(new DomainError('request.forbidden')).body.error).not.toHaveProperty('doc_url');
  });

  it('translates field names of the domain into their names on the wire, and keeps equal names', () => {
    const details = [
      { field: 'address.postalCode', message: 'must have five digits' },
      { field: 'currentCity', message: 'must be a city' },
    ];
    expect(
      replyTo(new DomainError('screening.field_format', { field: 'address.postalCode', details })).body.error,
    ).toMatchObject({
      message: 'currentZip must have five digits.',
      field: 'currentZip',
      details: [{ field: 'currentZip' }, { field: 'currentCity' }],
    });
  });

  it("states the broken rule when the fault is not in a field, and otherwise the catalogue's text", () => {
    expect(
      replyTo(new DomainError('request.invalid', { rule: 'The body must be a JSON object.' })).body.error.message,
    ).toBe('The body must be a JSON object.');
    expect(replyTo(new DomainError('screening.person_blocked')).body.error.message).toBe(
      'Verification is blocked for this person.',
    );
  });

  it('names the opened session beside the error', () => {
    expect(replyTo(new DomainError('service.unavailable', { sessionId: 'session' })).body).toMatchObject({
      error: { code: 'SERVICE_UNAVAILABLE' },
      sessionId: 'session',
    });
    expect(replyTo(new DomainError('service.unavailable')).body).not.toHaveProperty('sessionId');
  });
});

describe("a vendor's refusal of the data", () => {
  const told = (code: number, field?: string): object => {
    const body = { error: { code, message: 'not for the caller', ...(field && { field }) } };
    const verdict = readRegistration(answerOf(400, JSON.stringify(body))) as Parameters<
      typeof record<'record-registration'>
    >[2];
    const { state } = submitted().when(record('record-registration', 'registration', verdict)).decided;
    const refusal = refusalOf(state as Session, 'registration')!;
    const { code: name, field: at, message } = replyTo(refusal).body.error;
    return { code: name, field: at, message };
  };

  it.each([
    [45, undefined, 'VALIDATION_INVALID_FIELD_FORMAT', 'lastName'],
    [49, undefined, 'VALIDATION_INVALID_FIELD_FORMAT', 'currentZip'],
    [403, undefined, 'REPORT_MISSING_FIELD', 'ssn'],
    [405, undefined, 'INVALID_DOB', 'dateOfBirth'],
    [407, undefined, 'INVALID_ADDRESS', 'currentAddress'],
    [708, 'phone.number', 'VALIDATION_INVALID_FIELD_FORMAT', 'phoneNumber'],
    [708, 'ssn', 'INVALID_SSN', 'ssn'],
    [13, 'address.city', 'INVALID_ADDRESS', 'currentCity'],
    [13, 'firstName', 'VALIDATION_INVALID_FIELD_FORMAT', 'firstName'],
  ])('%i with field %s is answered as %s of %s, with the rule', (code, named, name, field) => {
    expect(told(code, named)).toEqual({
      code: name,
      field,
      message: expect.stringMatching(new RegExp(`^${field} (must|is required).*\\.$`)),
    });
  });

  it('about an unknown field is answered without a field', () => {
    for (const [code, field] of [
      [708, undefined],
      [708, 'userType'],
      [92, undefined],
    ] as const) {
      expect(told(code, field)).toEqual({
        code: 'VALIDATION_ERROR',
        field: undefined,
        message: expect.stringMatching(/vendor|law/),
      });
    }
  });
});
