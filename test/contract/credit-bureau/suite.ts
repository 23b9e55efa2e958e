// The contract suite of src/ports/credit-bureau.ts. Every adapter passes the suite against the sandbox vendor. The
// suite has one test for every persona that affects reports, and one for every code of the credit file.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import type { CreditBureau, ReportRefusal, ReportVerdict } from '../../../src/ports/credit-bureau.js';
import type { Applicant } from '../../../src/ports/identity-vendor.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import { until } from '../../support/eventually.js';
import { withoutReplies } from '../../support/replies.js';
import { ofSession } from '../../support/subjects.js';

export interface CreditBureauHarness {
  /** An adapter whose calls end within the time limit. The whole suite uses the same vendor. */
  open(options: { readonly timeoutMs: number }): Promise<CreditBureau>;
  /**
   * Registers a person with the identity vendor and returns the token, even during an open step-up. Agents and organizations have no SSN.
   */
  register(lastName: string, more?: Partial<Applicant>): Promise<string>;
  /** Returns the token of the person when the code was right, and the token of the session otherwise. */
  answerOtp(vendorSession: string, code: string): Promise<string>;
  /** The numbers that the vendor has counted for an attempt. */
  calls(attemptId: string): Promise<{ readonly received: number; readonly executed: number; readonly billed: number }>;
  loseNextAnswer(): Promise<void>;
  outage(seconds: number): Promise<void>;
  /** Closes the vendor and every adapter that the suite has created. */
  close(): Promise<void>;
}

export function newCall(): VendorCall {
  return { attemptId: newId(), correlationId: newId(), environment: 'test', subject: null };
}

function refused(reason: ReportRefusal, upstreamCode: number): ReportVerdict {
  return { kind: 'refused', reason, upstreamCode };
}

const CONDITIONS = [9006, 9007, 9009, 9014, 9015, 9016, 9018, 9995, 9996];
const FAULTS = [9001, 9002, 9003, 9004, 9005, 9008, 9987, 9997, 9999];
const SESSION_OVER = [9010, 9011, 9012];
/** The code is 10000 plus the number of the credit-file system. */
const FILE_SYSTEM = [
  10015, 10019, 10031, 10037, 10043, 10045, 10053, 10061, 10067, 10130, 10139, 10173, 10222, 10621, 10631, 10632, 10633,
  10634, 10639, 10653, 10901, 10936, 10945, 10946, 10047, 10049, 10054, 10055, 10056, 10073, 10092, 10216, 10402, 10403,
  10404, 10405, 10406, 10407, 10408, 10616, 10627, 10630,
];

const CODES: readonly (readonly [code: number, verdict: ReportVerdict])[] = [
  [9110, refused('MINOR', 9110)],
  [9116, refused('FILE_BLOCKED', 9116)],
  [9132, refused('FILE_FROZEN', 9132)],
  [9193, refused('NO_RECORD', 9193)],
  ...[...CONDITIONS, ...FILE_SYSTEM].map((code): [number, ReportVerdict] => [code, refused('FILE_CONDITION', code)]),
  ...FAULTS.map((code): [number, ReportVerdict] => [code, { kind: 'unavailable' }]),
  ...SESSION_OVER.map((code): [number, ReportVerdict] => [code, { kind: 'session-over' }]),
  [9500, { kind: 'unintelligible' }],
  [10001, { kind: 'unintelligible' }],
  [99999, { kind: 'unintelligible' }],
];

export function describeCreditBureau(name: string, start: () => Promise<CreditBureauHarness>): void {
  describe(`credit bureau: ${name}`, () => {
    let harness: CreditBureauHarness;
    let replying: CreditBureau;
    let bureau: CreditBureau;

    beforeAll(async () => {
      harness = await start();
      replying = await harness.open({ timeoutMs: 10_000 });
      bureau = withoutReplies(replying);
    });

    afterAll(() => harness.close());

    async function reportOf(
      lastName: string,
      more: Partial<Applicant> = {},
    ): Promise<Extract<ReportVerdict, { kind: 'report' }>> {
      const verdict = await bureau.pullReport(newCall(), ofSession(await harness.register(lastName, more)));
      if (verdict.kind !== 'report') throw new Error(`expected a report, got ${verdict.kind}`);
      return verdict;
    }

    describe('a report', () => {
      it('has a score, trade lines and the other sections, and is billed', async () => {
        const call = newCall();
        const verdict = await bureau.pullReport(call, ofSession(await harness.register('Smith')));
        const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
        expect(verdict).toEqual({
          kind: 'report',
          score: {
            value: expect.any(Number),
            model: expect.any(String),
            min: 300,
            max: 850,
            factors: expect.arrayContaining([expect.any(String)]),
            date: day,
          },
          report: {
            consumer: {
              name: 'Jo Smith',
              addresses: expect.arrayContaining(['1 Main St, Springfield, IL 62701']),
              birthYear: 1980,
              ssnLastFour: '3210',
            },
            alerts: [],
            searches: ['publicRecords', 'background', 'housingCourt'].map((section) => ({
              section,
              area: expect.any(String),
              date: day,
            })),
            tradeLines: expect.arrayContaining([
              {
                creditor: expect.any(String),
                type: expect.stringMatching(/^(REVOLVING|INSTALLMENT|MORTGAGE)$/),
                account: expect.stringMatching(/^\d{4}$/),
                openedOn: day,
                status: expect.any(String),
                balanceCents: expect.any(Number),
                limitCents: expect.anything(),
                pastDueCents: expect.any(Number),
                paymentHistory: expect.stringMatching(/^[C123]{0,24}$/),
              },
            ]),
            publicRecords: expect.any(Array),
            inquiries: expect.any(Array),
            background: expect.any(Array),
            housingCourt: expect.any(Array),
          },
        });
        expect(await harness.calls(call.attemptId)).toEqual({ received: 1, executed: 1, billed: 1 });
      });

      it.each([
        ['Evictiontest', 'housingCourt', { outcome: 'JUDGMENT_FOR_LANDLORD' }],
        ['Backgroundtest', 'background', { disposition: 'CONVICTED' }],
        ['Bankruptcytest', 'publicRecords', { type: expect.stringMatching(/^BANKRUPTCY_/) }],
      ] as const)('shows the record of the persona: %s in %s', async (lastName, section, entry) => {
        const { report } = await reportOf(lastName);
        const { publicRecords, background, housingCourt } = report;
        const shown = {
          publicRecords: [],
          background: [],
          housingCourt: [],
          [section]: [expect.objectContaining(entry)],
        };
        expect({ publicRecords, background, housingCourt }).toEqual(shown);
      });

      it.each([
        ['Fraudalerttest', 'FRAUD_ALERT'],
        ['Activedutytest', 'ACTIVE_DUTY'],
        ['Newaddresstest', 'ADDRESS_MISMATCH'],
      ])('has an alert for %s: %s', async (lastName, type) => {
        expect((await reportOf(lastName)).report.alerts).toEqual([expect.objectContaining({ type })]);
      });

      it('has the typed name, address, year of birth and last digits, even after a step-up', async () => {
        const typed = {
          firstName: ' Zoë ',
          middleName: 'Ng',
          dateOfBirth: '12312001',
          ssn: '000000550',
          address: { street: '9 Elm St #4', city: 'Austin', state: 'TX', zip: '78701-1234' },
        };
        const person = await harness.answerOtp(await harness.register('Otptest', typed), '123456');
        const addresses = expect.arrayContaining(['9 Elm St #4, Austin, TX 78701-1234']);
        expect(await bureau.pullReport(newCall(), ofSession(person))).toMatchObject({
          report: { consumer: { name: 'Zoë Ng Otptest', addresses, birthYear: 2001, ssnLastFour: '0550' } },
        });
      });

      it('can be read when every field has its greatest length', async () => {
        const long = (length: number): string => '\u{1F600}'.repeat(length / 2);
        const typed = {
          firstName: long(254),
          middleName: long(254),
          address: { street: long(254), city: long(254), state: long(254), zip: '78701' },
        };
        const { report } = await reportOf(long(254), typed);
        expect(report.consumer.name).toBe(Array(3).fill('\u{1F600}'.repeat(60)).join(' '));
      });

      it('is the same for the same person, and differs for another person', async () => {
        const first = await reportOf('Smith');
        expect(await reportOf('Smith')).toEqual(first);
        expect((await reportOf('Smith', { ssn: '666443999' })).report).not.toEqual(first.report);
      });

      it.each([
        ['000000000', 300],
        ['666000001', 300 + (666_000_001 % 551)],
        ['000000550', 850],
        ['000000551', 300],
      ])('has the score of the SSN: %s', async (ssn, value) => {
        expect((await reportOf('Smith', { ssn })).score?.value).toBe(value);
      });

      it('is given after a step-up with right answers', async () => {
        const vendorSession = await harness.register('Otptest');
        const person = await harness.answerOtp(vendorSession, '123456');
        expect(await bureau.pullReport(newCall(), ofSession(person))).toMatchObject({ kind: 'report' });
        // The token of the challenge is not the person's token.
        expect(await bureau.pullReport(newCall(), ofSession(vendorSession))).toEqual({ kind: 'session-over' });
      });

      it('has no score for Thinfiletest', async () => {
        const { score, report } = await reportOf('Thinfiletest');
        expect(score).toBeNull();
        expect(report.tradeLines.length).toBeLessThan(2);
      });

      it('arrives late for Slowtest', async () => {
        const [slowSession, session] = [await harness.register('Slowtest'), await harness.register('Example')];
        let answered = false;
        const slow = bureau.pullReport(newCall(), ofSession(slowSession)).finally(() => (answered = true));
        expect(await bureau.pullReport(newCall(), ofSession(session))).toMatchObject({ kind: 'report' });
        expect(answered).toBe(false);
        expect(await slow).toMatchObject({ kind: 'report' });
      });
    });

    describe('a refusal of a report', () => {
      it.each<[string, ReportVerdict]>([
        ['Frozentest', refused('FILE_FROZEN', 9132)],
        ['Nohittest', refused('NO_RECORD', 9193)],
      ])("is the bureau's answer for %s, and no report is billed", async (lastName, verdict) => {
        const call = newCall();
        expect(await bureau.pullReport(call, ofSession(await harness.register(lastName)))).toEqual(verdict);
        expect(await harness.calls(call.attemptId)).toEqual({ received: 1, executed: 1, billed: 0 });
      });

      it.each(CODES)("is the bureau's answer for upstream code %i", async (code, verdict) => {
        const vendorSession = await harness.register('Smith', { middleName: `Upstream${code}` });
        expect(await bureau.pullReport(newCall(), ofSession(vendorSession))).toEqual(verdict);
      });

      it.each([
        [18, refused('FILE_CONDITION', 18)],
        [123, { kind: 'unavailable' } as const],
        [2801, { kind: 'session-over' } as const],
        [7001, { kind: 'unavailable' } as const],
        [1001, { kind: 'unintelligible' } as const],
      ])(
        "is the bureau's answer for upstream code %i, which a middle name selects for the report",
        async (code, verdict) => {
          const vendorSession = await harness.register('Smith', { middleName: `Upstream${code}AtReport` });
          expect(await bureau.pullReport(newCall(), ofSession(vendorSession))).toEqual(verdict);
        },
      );

      it.each(['AGENT', 'PMC'] as const)("is the bureau's answer for an %s without an SSN", async (userType) => {
        const vendorSession = await harness.register('Smith', { userType });
        expect(await bureau.pullReport(newCall(), ofSession(vendorSession))).toEqual(refused('FILE_CONDITION', 9018));
      });

      it("is the bureau's answer for a session that is unanswered, locked, over or unknown", async () => {
        const open = await harness.register('Otptest');
        const locked = await harness.register('Lockedtest');
        await harness.answerOtp(locked, '000000');
        for (const vendorSession of [open, locked, await harness.register('Expiredtest'), 'vs_unknown']) {
          expect(await bureau.pullReport(newCall(), ofSession(vendorSession))).toEqual({ kind: 'session-over' });
        }
        expect(await bureau.pullReport(newCall(), ofSession(await harness.answerOtp(open, '123456')))).toMatchObject({
          kind: 'report',
        });
      });
    });

    describe('the answer that comes with a verdict', () => {
      it('is the report as the bureau wrote it', async () => {
        const { reply, ...verdict } = await replying.pullReport(newCall(), ofSession(await harness.register('Smith')));
        expect(verdict.kind).toBe('report');
        expect(reply).toEqual({ status: 200, body: expect.any(String), code: null, field: null, message: null });
        expect({ kind: 'report', ...JSON.parse(reply!.body) }).toEqual(verdict);
      });

      it.each([
        ['Frozentest', undefined, 422, 9132],
        ['Otptest', undefined, 401, 9010],
        ['Smith', 'Upstream9001', 500, 9001],
        ['Smith', 'Upstream10404', 400, 10404],
        ['Smith', 'Upstream99999', 422, 99999],
      ])('is the refusal of %s, %s: %i with %i', async (lastName, middleName, status, code) => {
        const session = await harness.register(lastName, middleName === undefined ? {} : { middleName });
        const { reply } = await replying.pullReport(newCall(), ofSession(session));
        expect(reply).toEqual({ status, body: expect.any(String), code, field: null, message: expect.any(String) });
        expect(JSON.parse(reply!.body).error.code).toBe(code);
      });

      it('is absent when the bureau gave none', async () => {
        const session = await harness.register('Smith');
        await harness.outage(60);
        try {
          expect(await replying.pullReport(newCall(), ofSession(session))).toEqual({ kind: 'unavailable' });
        } finally {
          await harness.outage(0);
        }
      });
    });

    describe('idempotency', () => {
      it('answers a repeated attempt with the same report, and bills it once', async () => {
        const vendorSession = await harness.register('Smith');
        const call = newCall();
        const first = await bureau.pullReport(call, ofSession(vendorSession));
        expect(first.kind).toBe('report');
        expect(await bureau.pullReport(call, ofSession(vendorSession))).toEqual(first);
        expect(await harness.calls(call.attemptId)).toEqual({ received: 2, executed: 1, billed: 1 });
      });

      it('never answers an attempt with the report of another session', async () => {
        const call = newCall();
        await bureau.pullReport(call, ofSession(await harness.register('Smith')));
        expect(await bureau.pullReport(call, ofSession(await harness.register('Jones')))).toEqual({
          kind: 'unintelligible',
        });
        expect(await harness.calls(call.attemptId)).toEqual({ received: 2, executed: 1, billed: 1 });
      });

      it('returns the report, and bills it once, although the first answer was lost', async () => {
        const vendorSession = await harness.register('Smith');
        const call = newCall();
        await harness.loseNextAnswer();
        expect(await bureau.pullReport(call, ofSession(vendorSession))).toMatchObject({ kind: 'report' });
        expect(await harness.calls(call.attemptId)).toEqual({ received: 2, executed: 1, billed: 1 });
      });

      it('lets a call that timed out be repeated, and one report is billed', async () => {
        const vendorSession = await harness.register('Slowtest');
        const impatient = await harness.open({ timeoutMs: 200 });
        const call = newCall();
        expect(await impatient.pullReport(call, ofSession(vendorSession))).toEqual({ kind: 'timed-out' });
        // While the vendor works on the first call, the outcome is unknown. Then the vendor answers.
        let verdict = await bureau.pullReport(call, ofSession(vendorSession));
        await until('the vendor has an answer', async () => {
          if (verdict.kind === 'timed-out') verdict = await bureau.pullReport(call, ofSession(vendorSession));
          return verdict.kind !== 'timed-out';
        });
        expect(verdict).toMatchObject({ kind: 'report' });
        expect(await harness.calls(call.attemptId)).toMatchObject({ executed: 1, billed: 1 });
      });

      it('is unavailable while the vendor is down, and the same attempt succeeds afterwards', async () => {
        const vendorSession = await harness.register('Smith');
        const call = newCall();
        await harness.outage(60);
        try {
          expect(await bureau.pullReport(call, ofSession(vendorSession))).toEqual({ kind: 'unavailable' });
        } finally {
          await harness.outage(0);
        }
        expect(await harness.calls(call.attemptId)).toEqual({ received: 1, executed: 0, billed: 0 });
        expect(await bureau.pullReport(call, ofSession(vendorSession))).toMatchObject({ kind: 'report' });
      });
    });
  });
}
