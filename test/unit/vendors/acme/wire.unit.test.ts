// Reads the recorded answers of acme.
import { describe, expect, it } from '@jest/globals';
import type { VendorAnswer } from '../../../../src/vendor-kit/http/answer.js';
import { readOrdered, readReport } from '../../../../src/vendors/acme/credit-wire.js';
import { readAccepted, pastReader, readAnswer, readVerification } from '../../../../src/vendors/acme/identity-wire.js';
import { recordedAnswer } from '../../../support/recorded-answer.js';

const answer = (status: number, body: unknown): VendorAnswer => ({ status, body, text: JSON.stringify(body) });
const recorded = (name: string, status = 200): VendorAnswer => answer(status, recordedAnswer('acme', name));
const VERIFICATION = 'ver_0f6c2c5d9b074a3e8f490d8f2c9a1b12';
const UNINTELLIGIBLE = { kind: 'unintelligible' };

describe('a verification of acme', () => {
  it.each([
    ['verification-approved', { kind: 'confirmed' }],
    ['verification-declined', { kind: 'refused', reason: 'ALERT_LIST_MATCH' }],
    ['verification-challenged', { kind: 'step-up', otp: true, kba: [{ id: 1, answers: [{ id: 1 }, { id: 2 }] }] }],
    ['verification-in-review', { kind: 'under-review', vendorSession: expect.any(String), lookAgainAfter: 3_600 }],
    ['verification-failed', { kind: 'input-refused', input: 'address' }],
  ])('has a verdict for %s', (name, verdict) => {
    expect(readVerification(recorded(name))).toMatchObject({ kind: 'settled', verdict });
  });

  it('never has the verdict of 202', () => {
    expect(readAccepted({ ...recorded('verification-accepted', 202), retryAfterSeconds: 3 })).toEqual({
      kind: 'accepted',
      path: `/v1/verifications/${VERIFICATION}`,
      firstLookAfter: 3,
    });
    expect(readVerification(recorded('verification-accepted'))).toEqual(UNINTELLIGIBLE);
    expect(readAccepted(recorded('verification-approved', 202))).toEqual(UNINTELLIGIBLE);
  });

  it.each(['approved_with_conditions', 'APPROVED', 'toString', 7, null])(
    'never confirms with the state %s',
    (state) => {
      expect(readVerification(answer(200, { id: VERIFICATION, state }))).toEqual(UNINTELLIGIBLE);
      expect(readAnswer(answer(200, { id: VERIFICATION, state }))).toEqual(UNINTELLIGIBLE);
    },
  );

  it('is not classified when its reason or its problem is unknown', () => {
    const read = (more: object) => readVerification(answer(200, { id: VERIFICATION, ...more }));
    const settled = { kind: 'settled', verdict: UNINTELLIGIBLE };
    expect(read({ state: 'declined', reasons: ['constructor'] })).toEqual(settled);
    expect(read({ state: 'failed', problem: { code: 'constructor' } })).toEqual(settled);
    expect(read({ state: 'failed', problem: null })).toEqual(settled);
  });

  it.each([
    [422, 'invalid_ssn', { kind: 'input-refused', input: 'ssn' }],
    [403, 'product_not_enabled', { kind: 'product-not-enabled' }],
    [429, 'rate_limited', { kind: 'unavailable' }],
    [409, 'idempotency_key_reused', UNINTELLIGIBLE],
    [422, 'constructor', UNINTELLIGIBLE],
  ])('that begins with %s %s has a verdict', (status, code, verdict) => {
    expect(readAccepted(answer(status, { code, status }))).toEqual(verdict);
  });

  it('is not read from the page of a gateway', () => {
    const page: VendorAnswer = { status: 200, body: null, text: null };
    for (const read of [readAccepted, readVerification, readAnswer, pastReader(), readReport])
      expect(read(page)).toEqual(UNINTELLIGIBLE);
  });

  it('has an outcome of its key, which is the answer of that time', () => {
    const { body, status } = recorded('problem-of-lock', 423);
    expect(pastReader()(answer(200, { operation: 'code', answer: { status, body } }))).toEqual({
      kind: 'answer',
      verdict: { kind: 'locked', unblockAt: '2026-03-02T12:00:00.000Z' },
    });
    const refusal = { operation: 'verification', answer: { status: 422, body: recorded('problem-of-ssn').body } };
    expect(pastReader()(answer(200, refusal))).toEqual({
      kind: 'verification',
      then: { kind: 'input-refused', input: 'ssn' },
    });
    expect(pastReader()(answer(404, { code: 'key_unknown' }))).toEqual({ kind: 'not-executed' });
    expect(pastReader()(answer(404, { code: 'not_found' }))).toEqual(UNINTELLIGIBLE);
  });
});

describe('a report of acme', () => {
  it('is read in the words of the service', () => {
    expect(readReport(recorded('report-ready'))).toEqual({
      kind: 'settled',
      verdict: {
        kind: 'report',
        score: {
          value: 702,
          model: 'Acme Rent Score 4',
          min: 300,
          max: 850,
          factors: ['Large part of the credit limits is used', 'Short history of credit'],
          date: '2026-03-01',
        },
        report: {
          consumer: {
            name: 'Ada Example',
            addresses: ['1 Main Street, San Francisco, CA 94105'],
            birthYear: 1990,
            ssnLastFour: '3456',
          },
          alerts: [{ type: 'ADDRESS_MISMATCH', date: '2026-02-01' }],
          tradeLines: [
            {
              creditor: 'First Example Bank',
              type: 'REVOLVING',
              account: '1234',
              openedOn: '2020-02-29',
              status: 'PAST_DUE',
              balanceCents: 123_456,
              limitCents: 500_000,
              pastDueCents: 6_172,
              paymentHistory: '1CCC',
            },
          ],
          publicRecords: [
            {
              type: 'CIVIL_JUDGMENT',
              court: 'Example County Court',
              filedOn: '2024-05-06',
              status: 'SATISFIED',
              amountCents: 75_000,
            },
          ],
          inquiries: [{ subscriber: 'Example Lending', date: '2026-01-15', purpose: 'credit' }],
          background: null,
          housingCourt: null,
        },
      },
    });
  });

  it('is refused with the reason of acme', () => {
    expect(readReport(recorded('report-not-available'))).toMatchObject({
      verdict: { kind: 'refused', reason: 'FILE_FROZEN' },
    });
    const unknown = { ...(recorded('report-not-available').body as object), reason: 'constructor' };
    expect(readReport(answer(200, unknown))).toEqual({ kind: 'settled', verdict: UNINTELLIGIBLE });
  });

  it('is not read when an amount, a date or the score has another form', () => {
    const ready = recorded('report-ready').body as any;
    const broken = [
      { ...ready, tradelines: [{ ...ready.tradelines[0], balance: 1234.56 }] },
      { ...ready, tradelines: [{ ...ready.tradelines[0], account_tail: '41111111' }] },
      { ...ready, score: { ...ready.score, value: 900 } },
      { ...ready, score: { ...ready.score, as_of: '2026-02-30' } },
      { ...ready, state: 'almost_ready' },
    ];
    for (const body of broken) expect(readReport(answer(200, body))).toEqual(UNINTELLIGIBLE);
  });

  it('is not what 202 tells', () => {
    expect(readOrdered(recorded('report-ready', 202))).toEqual(UNINTELLIGIBLE);
  });
});
