import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CallbackName, CallbackPayloads } from '../../../web/contract/callbacks.js';
import { type FrameStart, PROTOCOL } from '../../../web/contract/messages.js';
import {
  CALLBACK_NAMES,
  readArea,
  readFrameEvent,
  readFrameStart,
  readToken,
} from '../../../web/contract/read-messages.js';
import { readUnitAddress } from '../../../web/contract/read-values.js';

const SESSION = '0190b5a0-0000-7000-8000-000000000001';
const PAYLOADS: CallbackPayloads = {
  onReady: { view: 'screening' },
  onResize: { height: 480 },
  onChange: { step: 'details', complete: false },
  onStepStart: { step: 'otp' },
  onStepComplete: { step: 'otp' },
  onVerificationSuccess: { sessionId: SESSION, status: 'VERIFIED' },
  onVerificationFailure: { sessionId: null, status: 'BLOCKED', reasonCode: 'TOO_MANY_ATTEMPTS' },
  onScreeningSuccess: { sessionId: SESSION, overallStatus: 'COMPLETED', score: 712 },
  onPaymentSuccess: { sessionId: SESSION, transactionId: 'txn_1', amount: 3_500, currency: 'usd' },
  onReportShared: { sessionId: SESSION, reportId: SESSION, recipientAccountId: 'acct_1' },
  onReportRevoked: { sessionId: SESSION, reportId: SESSION, recipientAccountId: 'acct_1' },
  onReportShareDeclined: { sessionId: SESSION },
  onReportUnavailable: { sessionId: SESSION, reasonCode: 'FILE_FROZEN' },
  onDone: { sessionId: null },
  onIncomeReportComplete: { incomeSessionId: SESSION, route: 'PAYROLL' },
  onIncomeReportFailure: { incomeSessionId: SESSION, route: 'BANKING', reasonCode: 'NO_RECORDS' },
  onError: { code: 'INVALID_OTP', message: 'The code is wrong.', recoverable: true },
  onWarning: { code: 'INVALID_PREFILL_FIELDS', message: 'Left out.', fields: ['email', 'currentZip'] },
  handlePrintRequested: { sessionId: SESSION },
  handleDownloadRequested: { sessionId: SESSION },
};
const OPTIONAL: Partial<Record<CallbackName, readonly string[]>> = {
  onVerificationFailure: ['reasonCode'],
  onScreeningSuccess: ['score'],
  onError: ['recoverable'],
  onWarning: ['fields'],
};
const START: FrameStart = {
  protocol: PROTOCOL,
  view: 'report',
  token: { token: 'a.b.c', expiresAt: 1_800_000_000_000 },
  unitAddress: { address: '12 Elm Street', city: 'Austin', state: 'TX', zip: '78701' },
  userType: 'CONSUMER',
  endUserType: 'REAL_ESTATE_AGENT',
  applicationFee: 1_000_000,
  productId: 3,
  screeningId: SESSION,
  prefill: { firstName: 'Ada' },
  locale: 'es-US',
  appearance: { theme: 'dark', accentColor: '#123456' },
};

const everyCallback = it.each(Object.entries(PAYLOADS) as [CallbackName, Record<string, unknown>][]);

/** Values that no honest sender sends: values of every kind, getters and proxies that throw, very long texts. */
const junk = fc.oneof(
  fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withNullPrototype: true }),
  fc.constantFrom<unknown>(
    new Proxy({}, { get: () => { throw new Error('refused'); } }), // prettier-ignore
    { get name(): string { throw new Error('refused'); } }, // prettier-ignore
    Object.assign([], { name: 'onReady' }),
    'x'.repeat(1_000_000),
    () => undefined,
    Symbol('s'),
  ),
);

describe('an event of the frame', () => {
  it('is accepted only if it is one of the callbacks', () => {
    expect([...CALLBACK_NAMES].sort()).toEqual(Object.keys(PAYLOADS).sort());
    for (const name of ['onready', 'onUnknown', 'toString', '__proto__', 'constructor', ''])
      expect(readFrameEvent({ name, payload: PAYLOADS.onReady })).toBeNull();
  });

  everyCallback('%s is a frozen copy of its own fields', (name, payload) => {
    const read = readFrameEvent({ name, payload: { ...payload, ssn: '123456789', extra: {} }, more: 1 });
    expect(read).toEqual({ name, payload });
    expect(read?.payload).not.toBe(payload);
    expect(Object.isFrozen(read?.payload)).toBe(true);
  });

  everyCallback('%s is nothing when a field that it needs is missing or of another kind', (name, payload) => {
    for (const field of Object.keys(payload)) {
      const isOptional = OPTIONAL[name]?.includes(field) ?? false;
      const { [field]: _left, ...without } = payload;
      for (const changed of [without, { ...payload, [field]: {} }, { ...payload, [field]: ' '.repeat(10_000) }])
        expect(readFrameEvent({ name, payload: changed })).toEqual(isOptional ? { name, payload: without } : null);
    }
  });

  it('raises a small height to the minimum of the component, and refuses an impossible height', () => {
    const heightOf = (height: unknown): unknown => readFrameEvent({ name: 'onResize', payload: { height } })?.payload;
    expect(heightOf(12)).toEqual({ height: 200 });
    expect(heightOf(480.2)).toEqual({ height: 481 });
    for (const height of [-1, 1e9, Infinity, NaN, '480']) expect(heightOf(height)).toBeUndefined();
  });

  it('has its list of fields only when every entry is valid', () => {
    const fieldsOf = (fields: unknown): unknown =>
      readFrameEvent({ name: 'onWarning', payload: { ...PAYLOADS.onWarning, fields } })?.payload;
    const { fields: _fields, ...without } = PAYLOADS.onWarning;
    for (const fields of [['email', 7], ['ada@example.test'], Array(51).fill('email'), 'email'])
      expect(fieldsOf(fields)).toEqual(without);
    const read = fieldsOf(['email']) as { fields: readonly string[] };
    expect(Object.isFrozen(read.fields)).toBe(true);
  });

  it('reads each value once, so that a value cannot change after the check', () => {
    let reads = 0;
    const payload = { get view() { reads += 1; return reads === 1 ? 'screening' : { ssn: '123456789' }; } }; // prettier-ignore
    expect(readFrameEvent({ name: 'onReady', payload })).toEqual({ name: 'onReady', payload: { view: 'screening' } });
    expect(reads).toBe(1);
  });
});

it('an area to be shown consists of two whole numbers of pixels within the limits of a frame', () => {
  expect(readArea({ top: 0, bottom: 48, ssn: '1' })).toEqual({ top: 0, bottom: 48 });
  for (const wrong of [-1, 0.5, 100_001, NaN, Infinity, '48', null, undefined, {}])
    expect([readArea({ top: wrong, bottom: 48 }), readArea({ top: 0, bottom: wrong })]).toEqual([null, null]);
});

describe('the start message to the frame', () => {
  it("is a frozen copy of the page's values", () => {
    const read = readFrameStart({ ...START, extra: 1, prefill: { ...START.prefill, ssn: '123456789' } });
    expect(read).toEqual(START);
    expect(Object.isFrozen(read) && Object.isFrozen(read?.token) && Object.isFrozen(read?.prefill)).toBe(true);
  });

  it('is null when a value has a wrong type or a required value is missing', () => {
    for (const field of Object.keys(START))
      expect([field, readFrameStart({ ...START, [field]: 7.5 })]).toEqual([field, null]);
    for (const field of ['view', 'token'] as const) {
      const { [field]: _left, ...without } = START;
      expect([field, readFrameStart(without)]).toEqual([field, null]);
    }
  });

  it('has a default for every optional value, so that messages of older pages are readable', () => {
    const { view, token, unitAddress } = START;
    const defaults = {
      protocol: 1,
      userType: 'CONSUMER',
      endUserType: null,
      applicationFee: null,
      productId: null,
      screeningId: null,
      prefill: {},
      locale: null,
      appearance: {},
    };
    expect(readFrameStart({ view, token, unitAddress })).toEqual({ view, token, unitAddress, ...defaults });
    expect(readFrameStart({ ...START, ...defaults })).toEqual({ ...START, ...defaults });
  });

  it('is null when the page uses another protocol', () => {
    for (const protocol of [0, 2, '1', null]) expect(readFrameStart({ ...START, protocol })).toBeNull();
  });

  it.each([0, 1_000_001, 1.5, '100', NaN])('is null with an application fee of %p', (applicationFee) => {
    expect(readFrameStart({ ...START, applicationFee })).toBeNull();
  });
});

describe('the address of a home', () => {
  it('is a text or its parts', () => {
    for (const address of ['x', 'x'.repeat(255), START.unitAddress]) expect(readUnitAddress(address)).toEqual(address);
    for (const address of ['', '   ', 'x'.repeat(256), {}, { ...(START.unitAddress as object), zip: ' ' }, null, 7])
      expect(readUnitAddress(address)).toBeUndefined();
  });
});

describe('a reader', () => {
  it('accepts a token that a header can hold', () => {
    expect(readToken({ token: 'a.b-c_d', expiresAt: 1, extra: 1 })).toEqual({ token: 'a.b-c_d', expiresAt: 1 });
    for (const token of ['', 'a\r\nX: y', 'ä', 'x'.repeat(8_193), 7])
      expect(readToken({ token, expiresAt: 1 })).toBeNull();
    expect(readToken({ token: 'a.b.c', expiresAt: NaN })).toBeNull();
  });

  it('returns null or a valid value for any input, and never throws', () => {
    fc.assert(
      fc.property(
        junk,
        fc.constantFrom<CallbackName>(...CALLBACK_NAMES),
        fc.constantFrom(...Object.keys(START)),
        (value, name, field) => {
          const event = readFrameEvent({ name, payload: value });
          expect(event === null || JSON.stringify(event).length < 10_000).toBe(true);
          expect(readFrameEvent(value)).toBeNull();
          expect(readToken(value)).toBeNull();
          expect(readFrameStart(value)).toBeNull();
          const start = readFrameStart({ ...START, [field]: value });
          expect(start === null || JSON.stringify(start).length < 20_000).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});
