// The contract suite of src/ports/income-vendor.ts. Every adapter passes the suite against the sandbox vendor. The
// suite has one test for every persona.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import type { IncomeOutcome, IncomeRoute, IncomeVendor } from '../../../src/ports/income-vendor.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import { ofSession } from '../../support/subjects.js';

export interface IncomeVendorHarness {
  /**
   * An adapter whose calls end within the time limit. The whole suite uses the same vendor, whose inquiries take no
   * time.
   */
  open(options: { readonly timeoutMs: number }): Promise<IncomeVendor>;
  /** Registers a person with the identity vendor and returns the token. */
  register(lastName: string, ssn?: string): Promise<string>;
  /** The numbers that the vendor has counted for an attempt. */
  calls(attemptId: string): Promise<{ readonly received: number; readonly executed: number }>;
  /** Sets the duration of inquiries from now on. */
  pace(milliseconds: number): Promise<void>;
  decide(inquiry: string, ending: 'completed' | 'NO_MATCH' | 'VENDOR_ERROR'): Promise<void>;
  loseNextAnswer(): Promise<void>;
  outage(seconds: number): Promise<void>;
  /** Closes the vendor and every adapter that the suite has created. */
  close(): Promise<void>;
}

export function newCall(): VendorCall {
  return { attemptId: newId(), correlationId: newId(), environment: 'test', subject: null };
}

const COMPLETED = expect.objectContaining({ kind: 'completed' });
const NO_MATCH: IncomeOutcome = { kind: 'failed', reason: 'NO_MATCH' };
const VENDOR_ERROR: IncomeOutcome = { kind: 'failed', reason: 'VENDOR_ERROR' };

export function describeIncomeVendor(name: string, start: () => Promise<IncomeVendorHarness>): void {
  describe(`income vendor: ${name}`, () => {
    let harness: IncomeVendorHarness;
    let vendor: IncomeVendor;

    beforeAll(async () => {
      harness = await start();
      vendor = await harness.open({ timeoutMs: 10_000 });
    });

    afterAll(() => harness.close());

    async function started(route: IncomeRoute, vendorSession: string | null, call = newCall()): Promise<string> {
      const verdict = await vendor.start(call, route, vendorSession === null ? null : ofSession(vendorSession));
      if (verdict.kind !== 'started') throw new Error(`expected an inquiry, got ${verdict.kind}`);
      return verdict.inquiry;
    }

    async function outcome(route: IncomeRoute, vendorSession: string | null): Promise<IncomeOutcome> {
      return vendor.outcomeOf(newCall(), await started(route, vendorSession));
    }

    describe('an inquiry', () => {
      it.each<[string, unknown, unknown]>([
        ['Smith', COMPLETED, COMPLETED],
        ['Nopayrolltest', NO_MATCH, COMPLETED],
        ['Noincometest', NO_MATCH, NO_MATCH],
        ['Incomeerrortest', VENDOR_ERROR, VENDOR_ERROR],
        ['Slowincometest', { kind: 'in-progress' }, { kind: 'in-progress' }],
      ])('about %s ends by payroll and by banking as documented', async (lastName, payroll, banking) => {
        const vendorSession = await harness.register(lastName);
        expect(await outcome('PAYROLL', vendorSession)).toEqual(payroll);
        expect(await outcome('BANKING', vendorSession)).toEqual(banking);
      });

      it('about a person with a long name completes', async () => {
        const vendorSession = await harness.register('S'.repeat(255));
        expect(vendorSession.length).toBeGreaterThan(255);
        expect(await outcome('PAYROLL', vendorSession)).toEqual(COMPLETED);
      });

      it('without a linked screening succeeds', async () => {
        expect(await outcome('PAYROLL', null)).toEqual(COMPLETED);
        expect(await outcome('BANKING', null)).toEqual(COMPLETED);
      });

      it('about an unknown session matches no person', async () => {
        expect(await outcome('PAYROLL', 'vs_unknown')).toEqual(NO_MATCH);
        expect(await outcome('BANKING', 'vs_unknown')).toEqual(NO_MATCH);
      });

      it('is in progress at first', async () => {
        await harness.pace(600_000);
        try {
          expect(await outcome('PAYROLL', null)).toEqual({ kind: 'in-progress' });
        } finally {
          await harness.pace(0);
        }
      });

      it.each([
        ['completed', COMPLETED],
        ['NO_MATCH', NO_MATCH],
        ['VENDOR_ERROR', VENDOR_ERROR],
      ] as const)('can be ended by a control of the sandbox: %s', async (ending, verdict) => {
        const inquiry = await started('PAYROLL', await harness.register('Slowincometest'));
        await harness.decide(inquiry, ending);
        expect(await vendor.outcomeOf(newCall(), inquiry)).toEqual(verdict);
      });

      it('that was never made has no outcome', async () => {
        expect(await vendor.outcomeOf(newCall(), 'no such/inquiry?')).toEqual({ kind: 'unintelligible' });
      });
    });

    describe('a report', () => {
      async function reportOf(
        route: IncomeRoute,
        vendorSession: string | null,
      ): Promise<Extract<IncomeOutcome, { kind: 'completed' }>['report']> {
        const verdict = await outcome(route, vendorSession);
        if (verdict.kind !== 'completed') throw new Error(`expected a report, got ${verdict.kind}`);
        return verdict.report;
      }

      it('is consistent: the paystubs of a year add up to the income', async () => {
        const paychecks = { WEEKLY: 52, BIWEEKLY: 26, SEMIMONTHLY: 24, MONTHLY: 12 };
        for (let person = 0; person < 20; person += 1) {
          const { employers, income, paystubs } = await reportOf(
            'PAYROLL',
            await harness.register('Smith', String(666_000_000 + person)),
          );
          expect(employers[0]).toMatchObject({
            name: expect.any(String),
            title: expect.any(String),
            startedOn: expect.any(String),
            endedOn: null,
          });
          expect(paystubs.map(({ grossCents }) => grossCents * paychecks[income.payFrequency])).toEqual(
            Array(6).fill(income.annualGrossCents),
          );
          expect(paystubs.every(({ grossCents, netCents }) => netCents > 0 && netCents < grossCents)).toBe(true);
          expect(
            paystubs
              .map(({ payDate }) => payDate)
              .sort()
              .reverse(),
          ).toEqual(paystubs.map(({ payDate }) => payDate));
          expect(income.currency).toBe('usd');
        }
      });

      it('is the same for the same person, and differs for another person', async () => {
        const vendorSession = await harness.register('Smith');
        const first = await reportOf('PAYROLL', vendorSession);
        expect(await reportOf('PAYROLL', await harness.register('Smith'))).toEqual(first);
        expect(await reportOf('PAYROLL', await harness.register('Smith', '666443999'))).not.toEqual(first);
      });

      it('has the same income by banking, but no job title and no first day', async () => {
        const vendorSession = await harness.register('Smith');
        const banking = await reportOf('BANKING', vendorSession);
        expect(banking.income).toEqual((await reportOf('PAYROLL', vendorSession)).income);
        expect(banking.employers[0]).toMatchObject({ title: null, startedOn: null });
      });
    });

    describe('idempotency', () => {
      it('starts a repeated attempt once', async () => {
        const call = newCall();
        const inquiry = await started('PAYROLL', null, call);
        expect(await started('PAYROLL', null, call)).toBe(inquiry);
        expect(await harness.calls(call.attemptId)).toEqual({ received: 2, executed: 1 });
      });

      it('does not confuse two attempts', async () => {
        const call = newCall();
        await started('PAYROLL', null, call);
        expect(await vendor.start(call, 'BANKING', null)).toEqual({ kind: 'unintelligible' });
        expect(await vendor.start(call, 'PAYROLL', ofSession(await harness.register('Smith')))).toEqual({
          kind: 'unintelligible',
        });
      });

      it('finds the inquiry although the answer was lost', async () => {
        const call = newCall();
        await harness.loseNextAnswer();
        const inquiry = await started('PAYROLL', null, call);
        expect(await vendor.outcomeOf(newCall(), inquiry)).toEqual(COMPLETED);
        expect(await harness.calls(call.attemptId)).toEqual({ received: 2, executed: 1 });
      });

      it('is unavailable while the vendor is down, and the same attempt succeeds afterwards', async () => {
        const inquiry = await started('PAYROLL', null);
        const call = newCall();
        await harness.outage(60);
        try {
          expect(await vendor.start(call, 'PAYROLL', null)).toEqual({ kind: 'unavailable' });
          expect(await vendor.outcomeOf(newCall(), inquiry)).toEqual({ kind: 'unavailable' });
        } finally {
          await harness.outage(0);
        }
        expect(await harness.calls(call.attemptId)).toEqual({ received: 1, executed: 0 });
        await started('PAYROLL', null, call);
        expect(await vendor.outcomeOf(newCall(), inquiry)).toEqual(COMPLETED);
      });
    });
  });
}
