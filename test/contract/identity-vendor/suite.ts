// The contract suite of src/ports/identity-vendor.ts. Every adapter passes the suite against the sandbox vendor. The
// suite has one test for every persona and every upstream code.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { withoutReplies } from '../../support/replies.js';
import type {
  Applicant,
  Device,
  IdentityVendor,
  ReauthenticationVerdict,
  RegistrationVerdict,
  VendorCall,
} from '../../../src/ports/identity-vendor.js';

export interface IdentityVendorHarness {
  /** An adapter whose calls end within the time limit. The whole suite uses the same vendor. */
  open(options: { readonly timeoutMs: number }): Promise<IdentityVendor>;
  /** The numbers that the vendor has counted for an attempt. */
  calls(attemptId: string): Promise<{ readonly received: number; readonly executed: number }>;
  /** Makes the vendor execute the next call, and loses its answer. */
  loseNextAnswer(): Promise<void>;
  /** Stops the vendor, so that every call gets 503, or starts the vendor again. */
  outage(seconds: number): Promise<void>;
  /** Closes the vendor and every adapter that the suite has created. */
  close(): Promise<void>;
}

export function newCall(): VendorCall {
  return { attemptId: newId(), correlationId: newId(), environment: 'test', subject: null };
}

export function person(lastName: string, more: Partial<Applicant> = {}): Applicant {
  return {
    userType: 'CONSUMER',
    firstName: 'Jo',
    lastName,
    dateOfBirth: '01311980',
    ssn: '666443210',
    phoneNumber: '2025550143',
    phoneType: 'C',
    address: { street: '1 Main St', city: 'Springfield', state: 'IL', zip: '62701' },
    jscPayload: 'fingerprint',
    termsAcceptedAt: '2026-01-02T03:04:05.678Z',
    ...more,
  };
}

export const RIGHT_CODE = '123456';
export const RIGHT_ANSWERS = [1, 2, 3, 4].map((id) => ({ questionId: id, answerId: id }));
const WRONG_ANSWERS = RIGHT_ANSWERS.map(({ questionId }) => ({ questionId, answerId: 5 }));

/** Reads an answer that contains the vendor's token for the person. */
const CONFIRMED = { kind: 'confirmed', personToken: expect.stringMatching(/^.{16,}$/) };

const CODES: readonly (readonly [code: number, verdict: RegistrationVerdict])[] = [
  [10, { kind: 'refused', reason: 'MINOR_CONSUMER' }],
  [13, { kind: 'input-refused', input: 'format' }],
  [18, { kind: 'refused', reason: 'FRAUD_REPORTED' }],
  [45, { kind: 'input-refused', input: 'last-name' }],
  [106, { kind: 'input-refused', input: 'last-name' }],
  [49, { kind: 'input-refused', input: 'zip' }],
  [92, { kind: 'input-refused', input: 'more-identification' }],
  [258, { kind: 'unavailable' }],
  [259, { kind: 'unavailable' }],
  [304, { kind: 'unavailable' }],
  [324, { kind: 'unavailable' }],
  [352, { kind: 'unavailable' }],
  [358, { kind: 'unavailable' }],
  [362, { kind: 'unavailable' }],
  [709, { kind: 'unavailable' }],
  [720, { kind: 'unavailable' }],
  [313, { kind: 'refused', reason: 'IDENTITY_NOT_FOUND' }],
  [323, { kind: 'refused', reason: 'IDENTITY_NOT_FOUND' }],
  [3014, { kind: 'refused', reason: 'IDENTITY_NOT_FOUND' }],
  [403, { kind: 'input-refused', input: 'ssn-missing' }],
  [404, { kind: 'input-refused', input: 'generation-code-missing' }],
  [405, { kind: 'input-refused', input: 'date-of-birth' }],
  [406, { kind: 'input-refused', input: 'middle-name-missing' }],
  [407, { kind: 'input-refused', input: 'address' }],
  [627, { kind: 'input-refused', input: 'address' }],
  [633, { kind: 'input-refused', input: 'address' }],
  [708, { kind: 'input-refused', input: 'unspecified' }],
  [710, { kind: 'session-over' }],
  [711, { kind: 'product-not-enabled' }],
  [2004, { kind: 'product-not-enabled' }],
  [2802, { kind: 'report-expired' }],
  [2501, { kind: 'locked', unblockAt: null }],
  [1999, { kind: 'refused', reason: 'ALERT_LIST_MATCH' }],
  [2503, { kind: 'refused', reason: 'SANCTIONS_MATCH' }],
  [3901, { kind: 'refused', reason: 'DECEASED' }],
  [2045, { kind: 'input-refused', input: 'last-name' }],
  [2500, { kind: 'session-over' }],
  [123, { kind: 'unavailable' }],
  [2502, { kind: 'refused', reason: 'IDENTITY_NOT_FOUND' }],
  [2801, { kind: 'session-over' }],
  [3001, { kind: 'unavailable' }],
  [3002, { kind: 'session-over' }],
  [3008, { kind: 'refused', reason: 'IDENTITY_NOT_FOUND' }],
  [3009, { kind: 'session-over' }],
  [3011, { kind: 'unavailable' }],
  [3012, { kind: 'unavailable' }],
  [3015, { kind: 'refused', reason: 'IDENTITY_NOT_FOUND' }],
  [7001, { kind: 'unavailable' }],
  [7002, { kind: 'unavailable' }],
  [7004, { kind: 'unavailable' }],
  [1004, { kind: 'unintelligible' }],
  [1010, { kind: 'unintelligible' }],
  [999, { kind: 'unintelligible' }],
  [1001, { kind: 'unintelligible' }],
];

export function describeIdentityVendor(name: string, start: () => Promise<IdentityVendorHarness>): void {
  describe(`identity vendor: ${name}`, () => {
    let harness: IdentityVendorHarness;
    let replying: IdentityVendor;
    let vendor: IdentityVendor;

    beforeAll(async () => {
      harness = await start();
      replying = await harness.open({ timeoutMs: 10_000 });
      vendor = withoutReplies(replying);
    });

    afterAll(() => harness.close());

    async function stepUp(lastName: string): Promise<Extract<RegistrationVerdict, { kind: 'step-up' }>> {
      const verdict = await vendor.register(newCall(), person(lastName));
      if (verdict.kind !== 'step-up') throw new Error(`expected a step-up, got ${verdict.kind}`);
      return verdict;
    }

    describe('registration', () => {
      it.each([
        'Smith',
        'Frozentest',
        'Nohittest',
        'Thinfiletest',
        'Nopayrolltest',
        'Noincometest',
        'Incomeerrortest',
        'Slowincometest',
        'Otptester',
      ])('confirms %s at once', async (lastName) => {
        const verdict = await vendor.register(newCall(), person(lastName));
        expect(verdict).toEqual({ kind: 'confirmed', vendorSession: expect.stringMatching(/^.{16,}$/) });
      });

      it('confirms agents and organizations without an SSN', async () => {
        const { ssn: _, ...agent } = person('Smith', { userType: 'AGENT' });
        expect(await vendor.register(newCall(), agent)).toMatchObject({ kind: 'confirmed' });
        expect(
          await vendor.register(newCall(), { ...agent, userType: 'PMC', companyName: 'Example Homes' }),
        ).toMatchObject({ kind: 'confirmed' });
      });

      it('accepts every optional field', async () => {
        const everything = person('Smith', {
          middleName: 'Q',
          email: 'jo@example.test',
          companyName: 'Example',
          hdimPayload: 'more',
          phoneType: 'H',
        });
        expect(await vendor.register(newCall(), everything)).toMatchObject({ kind: 'confirmed' });
      });

      it('reports the missing SSN of a consumer', async () => {
        const { ssn: _, ...withoutSsn } = person('Smith');
        expect(await vendor.register(newCall(), withoutSsn)).toEqual({ kind: 'input-refused', input: 'ssn-missing' });
      });

      it.each([
        ['Otptest', true, false],
        ['Kbatest', false, true],
        ['Choicetest', true, true],
        ['Lockedtest', true, false],
        ['Expiredtest', true, false],
      ])('requires a step-up for %s', async (lastName, otp, kba) => {
        const verdict = await stepUp(lastName);
        expect({ otp: verdict.otp, kba: verdict.kba !== null }).toEqual({ otp, kba });
        expect(verdict).not.toHaveProperty('duplicateGuard');
      });

      it.each(['OTPTEST', 'otptest', 'OtpTest'])('recognises the persona in any letter case: %s', async (lastName) => {
        expect(await vendor.register(newCall(), person(lastName))).toMatchObject({ kind: 'step-up' });
      });

      it('asks Kbatest four questions with five answers, numbered in the order shown', async () => {
        const { kba } = await stepUp('Kbatest');
        expect(kba?.map(({ id, answers }) => [id, answers.map((answer) => answer.id)])).toEqual(
          [1, 2, 3, 4].map((id) => [id, [1, 2, 3, 4, 5]]),
        );
        expect(kba?.every(({ text, answers }) => text !== '' && answers.every((answer) => answer.text !== ''))).toBe(
          true,
        );
      });

      it.each([
        ['Notfound', 'IDENTITY_NOT_FOUND'],
        ['Fraudtest', 'FRAUD_REPORTED'],
        ['Sanctiontest', 'SANCTIONS_MATCH'],
        ['Alerttest', 'ALERT_LIST_MATCH'],
        ['Deceasedtest', 'DECEASED'],
      ])('refuses %s as %s', async (lastName, reason) => {
        expect(await vendor.register(newCall(), person(lastName))).toEqual({ kind: 'refused', reason });
      });

      it('does not accept the address of Addresstest', async () => {
        expect(await vendor.register(newCall(), person('Addresstest'))).toEqual({
          kind: 'input-refused',
          input: 'address',
        });
      });

      it('applies the duplicate check to Alreadytest', async () => {
        expect(await vendor.register(newCall(), person('Alreadytest'))).toMatchObject({
          kind: 'confirmed',
          duplicateGuard: true,
        });
      });

      it('waits for the late answer about Slowtest', async () => {
        let answered = false;
        const slow = vendor.register(newCall(), person('Slowtest')).finally(() => (answered = true));
        expect(await vendor.register(newCall(), person('Example'))).toMatchObject({ kind: 'confirmed' });
        expect(answered).toBe(false);
        expect(await slow).toMatchObject({ kind: 'confirmed' });
      });

      it('reports a timeout for Timeouttest when the time limit has passed', async () => {
        const impatient = await harness.open({ timeoutMs: 400 });
        const call = newCall();
        expect(await impatient.register(call, person('Timeouttest'))).toEqual({ kind: 'timed-out' });
        expect(await vendor.outcomeOf(call)).toEqual({ kind: 'timed-out' });
        expect(await harness.calls(call.attemptId)).toEqual({ received: 1, executed: 0 });
      });

      it.each([
        ['Downtest', { kind: 'unavailable' }],
        ['Resettest', { kind: 'unavailable' }],
        ['Redirecttest', { kind: 'unintelligible' }],
        ['Garbledtest', { kind: 'unintelligible' }],
      ])('returns a value for %s after one request', async (lastName, verdict) => {
        const call = newCall();
        expect(await vendor.register(call, person(lastName))).toEqual(verdict);
        expect(await harness.calls(call.attemptId)).toEqual({ received: 1, executed: 0 });
        expect(await vendor.outcomeOf(call)).toEqual({ kind: 'not-executed' });
      });

      it('finds the vendor unavailable once for each person named Flakytest', async () => {
        const jo = person('Flakytest', { ssn: '666443211' });
        const al = person('Flakytest', { ssn: '666443212' });
        expect(await vendor.register(newCall(), jo)).toEqual({ kind: 'unavailable' });
        expect(await vendor.register(newCall(), al)).toEqual({ kind: 'unavailable' });
        expect(await vendor.register(newCall(), jo)).toMatchObject({ kind: 'confirmed' });
        expect(await vendor.register(newCall(), jo)).toMatchObject({ kind: 'confirmed' });
      });

      it.each(CODES)('understands upstream code %i', async (code, verdict) => {
        expect(await vendor.register(newCall(), person('Smith', { middleName: `Upstream${code}` }))).toEqual(verdict);
      });

      it.each<[string, Partial<Record<keyof Applicant, unknown>>, object, number, string | null]>([
        ['no first name', { firstName: undefined }, { input: 'first-name' }, 708, 'person.firstName'],
        ['no last name', { lastName: undefined }, { input: 'last-name' }, 45, 'person.lastName'],
        ['a last name of spaces', { lastName: '  ' }, { input: 'last-name' }, 45, 'person.lastName'],
        ['no SSN', { ssn: undefined }, { input: 'ssn-missing' }, 403, 'person.ssn'],
        ['an SSN of eight digits', { ssn: '66644321' }, { input: 'ssn' }, 13, 'person.ssn'],
        ['no birth date', { dateOfBirth: undefined }, { input: 'date-of-birth' }, 405, 'person.birthDate'],
        [
          'a birth date in another form',
          { dateOfBirth: '1980-01-31' },
          { input: 'date-of-birth' },
          405,
          'person.birthDate',
        ],
        ['no phone', { phoneNumber: undefined }, { input: 'phone' }, 13, 'person.phone'],
        ['a phone in another form', { phoneNumber: '+1 202' }, { input: 'phone' }, 13, 'person.phone'],
        ['an invalid e-mail address', { email: 'jo' }, { input: 'email' }, 13, 'person.email'],
        ['no address', { address: undefined }, { input: 'address' }, 627, 'address.street'],
        [
          'no street',
          { address: { city: 'S', state: 'IL', zip: '62701' } },
          { input: 'address' },
          627,
          'address.street',
        ],
        ['no city', { address: { street: '1', state: 'IL', zip: '62701' } }, { input: 'address' }, 407, 'address.city'],
        ['no state', { address: { street: '1', city: 'S', zip: '62701' } }, { input: 'address' }, 407, 'address.state'],
        ['no zip', { address: { street: '1', city: 'S', state: 'IL' } }, { input: 'zip' }, 49, 'address.postalCode'],
        ['an invalid IP address', { ipAddress: 'here' }, { input: 'format' }, 13, 'device.ipAddress'],
        ['a product that is not a number', { productId: 1.5 }, { input: 'unspecified' }, 708, null],
        ['text instead of a number', { ssn: 666443210 }, { input: 'ssn' }, 708, 'person.ssn'],
      ])('refuses %s with the right number, and names the field', async (_name, more, verdict, code, field) => {
        const applicant = person('Smith', more as Partial<Applicant>);
        const { reply, ...refused } = await replying.register(newCall(), applicant);
        expect(refused).toEqual({ kind: 'input-refused', ...verdict });
        expect(reply).toMatchObject({ status: 400, code, field });
      });

      it('refuses a street that is too long, and a minor', async () => {
        const address = { street: 'x'.repeat(256), city: 'S', state: 'IL', zip: '62701' };
        expect(await vendor.register(newCall(), person('Smith', { address }))).toMatchObject({ kind: 'input-refused' });
        const dateOfBirth = `0101${new Date().getUTCFullYear() - 17}`;
        expect(await vendor.register(newCall(), person('Smith', { dateOfBirth }))).toEqual({
          kind: 'refused',
          reason: 'MINOR_CONSUMER',
        });
      });

      it('accepts fields that only servers send, and does not require fields that only browsers send', async () => {
        const {
          phoneType: _,
          termsAcceptedAt: __,
          ...fromServer
        } = person('Smith', {
          ipAddress: '203.0.113.7',
          mothersMaidenName: 'Doe',
          spouseName: 'Al',
          propertyZip: '62701',
          productId: 7,
        });
        expect(await vendor.register(newCall(), fromServer)).toMatchObject({ kind: 'confirmed' });
      });

      it('keeps codes of the credit file for the report', async () => {
        expect(await vendor.register(newCall(), person('Smith', { middleName: 'Upstream9132' }))).toMatchObject({
          kind: 'confirmed',
        });
        expect(await vendor.register(newCall(), person('Otptest', { middleName: 'upstream10404' }))).toMatchObject({
          kind: 'step-up',
        });
      });
    });

    describe('step-up', () => {
      it('confirms the right code', async () => {
        const { vendorSession } = await stepUp('Otptest');
        expect(await vendor.verifyOtp(newCall(), vendorSession, RIGHT_CODE)).toEqual(CONFIRMED);
      });

      it('counts down at wrong codes and then locks the person', async () => {
        const { vendorSession } = await stepUp('Otptest');
        expect(await vendor.verifyOtp(newCall(), vendorSession, '000000')).toEqual({
          kind: 'wrong',
          attemptsRemaining: 2,
        });
        expect(await vendor.verifyOtp(newCall(), vendorSession, '0000')).toEqual({
          kind: 'wrong',
          attemptsRemaining: 1,
        });
        const locked = await vendor.verifyOtp(newCall(), vendorSession, '00000000');
        expect(locked).toEqual({ kind: 'locked', unblockAt: null });
        expect(await vendor.verifyOtp(newCall(), vendorSession, RIGHT_CODE)).toEqual(locked);
        expect(await vendor.resendOtp(newCall(), vendorSession)).toEqual(locked);
      });

      it('accepts the right code after a wrong one', async () => {
        const { vendorSession } = await stepUp('Otptest');
        await vendor.verifyOtp(newCall(), vendorSession, '000000');
        expect(await vendor.verifyOtp(newCall(), vendorSession, RIGHT_CODE)).toEqual(CONFIRMED);
      });

      it('confirms the right answers, in any order', async () => {
        const first = await stepUp('Kbatest');
        expect(await vendor.verifyKba(newCall(), first.vendorSession, RIGHT_ANSWERS)).toEqual(CONFIRMED);
        const second = await stepUp('Kbatest');
        expect(await vendor.verifyKba(newCall(), second.vendorSession, [...RIGHT_ANSWERS].reverse())).toEqual(
          CONFIRMED,
        );
      });

      it('counts codes and answers together for Choicetest', async () => {
        const { vendorSession } = await stepUp('Choicetest');
        expect(await vendor.verifyOtp(newCall(), vendorSession, '000000')).toEqual({
          kind: 'wrong',
          attemptsRemaining: 2,
        });
        expect(await vendor.verifyKba(newCall(), vendorSession, WRONG_ANSWERS)).toEqual({
          kind: 'wrong',
          attemptsRemaining: 1,
        });
        expect(await vendor.verifyKba(newCall(), vendorSession, WRONG_ANSWERS)).toMatchObject({ kind: 'locked' });
      });

      it('locks Lockedtest at the first wrong code and names the end of the lock', async () => {
        const { vendorSession } = await stepUp('Lockedtest');
        const verdict = await vendor.verifyOtp(newCall(), vendorSession, '000000');
        if (verdict.kind !== 'locked') throw new Error(`expected a lock, got ${verdict.kind}`);
        expect(verdict.unblockAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        const hours = (Date.parse(verdict.unblockAt ?? '') - Date.now()) / 3_600_000;
        expect(hours).toBeGreaterThan(23.9);
        expect(hours).toBeLessThanOrEqual(24);
      });

      it('says that the session of Expiredtest is over', async () => {
        const { vendorSession } = await stepUp('Expiredtest');
        expect(await vendor.verifyOtp(newCall(), vendorSession, RIGHT_CODE)).toEqual({ kind: 'session-over' });
        expect(await vendor.resendOtp(newCall(), vendorSession)).toEqual({ kind: 'session-over' });
      });

      it('reports a session as over after its confirmation, and when it never existed', async () => {
        const { vendorSession } = await stepUp('Otptest');
        await vendor.verifyOtp(newCall(), vendorSession, RIGHT_CODE);
        expect(await vendor.verifyOtp(newCall(), vendorSession, RIGHT_CODE)).toEqual({ kind: 'session-over' });
        expect(await vendor.verifyOtp(newCall(), 'no such/session?', RIGHT_CODE)).toEqual({ kind: 'session-over' });
      });

      it('sends the code again', async () => {
        const { vendorSession } = await stepUp('Otptest');
        expect(await vendor.resendOtp(newCall(), vendorSession)).toEqual({ kind: 'sent' });
      });
    });

    describe('an upstream code that is selected for one step', () => {
      const session = async (lastName: string, middleName: string): Promise<string> => {
        const verdict = await vendor.register(newCall(), person(lastName, { middleName }));
        if (!('vendorSession' in verdict)) throw new Error(`expected a session, got ${verdict.kind}`);
        return verdict.vendorSession;
      };

      it.each([
        ['Upstream9010AtRegistration', 'unintelligible', 401, 9010],
        ['upstream1004atregistration', 'unintelligible', 500, 1004],
      ])('%s', async (middleName, kind, status, code) => {
        const verdict = await replying.register(newCall(), person('Otptest', { middleName }));
        expect(verdict).toMatchObject({ kind, reply: { status, code } });
      });

      it.each([
        [1999, { kind: 'refused', reason: 'ALERT_LIST_MATCH', reply: { status: 422 } }],
        [2502, { kind: 'wrong', attemptsRemaining: null, reply: { status: 401 } }],
        [3008, { kind: 'wrong', attemptsRemaining: null, reply: { status: 401 } }],
        [3015, { kind: 'wrong', attemptsRemaining: null, reply: { status: 422 } }],
        [3009, { kind: 'session-over', reply: { status: 504 } }],
        [3001, { kind: 'unavailable', reply: { status: 500 } }],
        [407, { kind: 'unintelligible', reply: { status: 400 } }],
      ])('%i occurs at every answer, and not at a resend', async (code, verdict) => {
        const otp = await session('Otptest', `Upstream${code}AtAnswers`);
        expect(await replying.verifyOtp(newCall(), otp, RIGHT_CODE)).toMatchObject(verdict);
        expect(await replying.resendOtp(newCall(), otp)).toMatchObject({ kind: 'sent' });
        const kba = await session('Kbatest', `Upstream${code}AtAnswers`);
        expect(await replying.verifyKba(newCall(), kba, RIGHT_ANSWERS)).toMatchObject(verdict);
      });

      it('occurs only at a resend', async () => {
        const otp = await session('Otptest', 'Upstream720AtResend');
        expect(await replying.resendOtp(newCall(), otp)).toMatchObject({
          kind: 'unavailable',
          reply: { status: 503, code: 720 },
        });
        expect(await replying.verifyOtp(newCall(), otp, RIGHT_CODE)).toMatchObject({ kind: 'confirmed' });
      });

      it.each([
        [1004, 'refused-otherwise', 400],
        [1010, 'refused-otherwise', 500],
        [720, 'unavailable', 503],
        [3001, 'unavailable', 500],
        [3009, 'session-over', 504],
      ])('%i occurs at a re-authentication: %s, %i', async (code, kind, status) => {
        const token = await session('Smith', `Upstream${code}AtAuth`);
        const verdict = await replying.reauthenticate(newCall(), token, { jscPayload: 'fingerprint' });
        expect(verdict).toMatchObject({ kind, reply: { status, code } });
      });

      it('occurs at the answers of a re-authentication, not at those of the registration', async () => {
        const registered = await session('Otptest', 'Upstream3009AtAuthAnswers');
        const confirmed = await vendor.verifyOtp(newCall(), registered, RIGHT_CODE);
        if (confirmed.kind !== 'confirmed') throw new Error('expected a confirmation');
        const device = { jscPayload: 'fingerprint' };
        const begun = await vendor.reauthenticate(newCall(), confirmed.personToken ?? '', device);
        if (begun.kind !== 'step-up') throw new Error('expected a challenge');
        expect(await replying.verifyOtp(newCall(), begun.vendorSession, RIGHT_CODE)).toMatchObject({
          kind: 'session-over',
          reply: { status: 504, code: 3009 },
        });
      });
    });

    describe('re-authentication', () => {
      const DEVICE: Device = { jscPayload: 'fingerprint' };

      /** The vendor's token for a person whose identity is confirmed. */
      async function confirmed(lastName: string, more: Partial<Applicant> = {}): Promise<string> {
        const registered = await vendor.register(newCall(), person(lastName, more));
        if (registered.kind === 'confirmed') return registered.vendorSession;
        if (registered.kind !== 'step-up') throw new Error(`expected a session, got ${registered.kind}`);
        const { vendorSession, otp } = registered;
        const verdict = otp
          ? await vendor.verifyOtp(newCall(), vendorSession, RIGHT_CODE)
          : await vendor.verifyKba(newCall(), vendorSession, RIGHT_ANSWERS);
        if (verdict.kind !== 'confirmed') throw new Error(`expected a confirmation, got ${verdict.kind}`);
        return verdict.personToken ?? vendorSession;
      }

      async function challenged(token: string): Promise<Extract<ReauthenticationVerdict, { kind: 'step-up' }>> {
        const verdict = await vendor.reauthenticate(newCall(), token, DEVICE);
        if (verdict.kind !== 'step-up') throw new Error(`expected a challenge, got ${verdict.kind}`);
        return verdict;
      }

      const standing = async (token: string): Promise<boolean | null> => {
        const verdict = await vendor.authenticationStatus(newCall(), token);
        return verdict.kind === 'standing' ? verdict.authenticated : null;
      };

      it.each([
        ['Otptest', 'AGENT', true, false],
        ['Kbatest', 'AGENT', false, true],
        ['Choicetest', 'AGENT', true, true],
        ['Smith', 'AGENT', true, false],
        ['Smith', 'CONSUMER', true, false],
        ['Smith', 'PMC', false, true],
        ['Choicetest', 'PMC', false, true],
      ] as const)(
        'challenges %s, %s, although the earlier authentication is still valid',
        async (lastName, userType, otp, kba) => {
          const token = await confirmed(lastName, { userType });
          expect(await standing(token)).toBe(true);
          const challenge = await challenged(token);
          expect([challenge.otp, challenge.kba?.length ?? 0]).toEqual([otp, kba ? 4 : 0]);
          expect(challenge.vendorSession).not.toBe(token);
        },
      );

      it('ends with a valid authentication after a right code or right answers', async () => {
        const [otp, kba] = [await confirmed('Otptest'), await confirmed('Kbatest')];
        for (const token of [otp, kba])
          expect(await vendor.expireAuthentication(newCall(), token)).toEqual({ kind: 'expired' });
        expect([await standing(otp), await standing(kba)]).toEqual([false, false]);
        const [byCode, byAnswers] = [await challenged(otp), await challenged(kba)];
        expect([await standing(otp), await standing(kba)]).toEqual([false, false]);
        expect(await vendor.resendOtp(newCall(), byCode.vendorSession)).toEqual({ kind: 'sent' });
        expect(await vendor.verifyOtp(newCall(), byCode.vendorSession, RIGHT_CODE)).toEqual({
          kind: 'confirmed',
          personToken: otp,
        });
        expect(await vendor.verifyKba(newCall(), byAnswers.vendorSession, RIGHT_ANSWERS)).toMatchObject({
          kind: 'confirmed',
        });
        expect([await standing(otp), await standing(kba)]).toEqual([true, true]);
      });

      it('counts down at wrong codes of a challenge and then locks the challenge', async () => {
        const { vendorSession } = await challenged(await confirmed('Smith', { userType: 'AGENT' }));
        const kinds: string[] = [];
        for (const code of ['000000', '000000', '000000', RIGHT_CODE])
          kinds.push((await vendor.verifyOtp(newCall(), vendorSession, code)).kind);
        expect(kinds).toEqual(['wrong', 'wrong', 'locked', 'locked']);
      });

      it('accepts every field of the device', async () => {
        const token = await confirmed('Smith');
        const device: Device = {
          ...DEVICE,
          hdimPayload: 'more',
          ipAddress: '2001:db8::1',
          address: { street: '1 Main St', city: 'Springfield', state: 'IL', zip: '62701' },
        };
        expect(await vendor.reauthenticate(newCall(), token, device)).toMatchObject({ kind: 'step-up' });
      });

      it('refuses a malformed request with 1004 and 400, and an unknown person with 1010 and 500', async () => {
        const malformed = { ...DEVICE, ipAddress: 'here' };
        expect(await replying.reauthenticate(newCall(), await confirmed('Smith'), malformed)).toMatchObject({
          kind: 'refused-otherwise',
          reply: { status: 400, code: 1004 },
        });
        const unknown = { kind: 'refused-otherwise', reply: { status: 500, code: 1010 } };
        expect(await replying.reauthenticate(newCall(), 'x'.repeat(4_000), DEVICE)).toMatchObject(unknown);
        expect(await replying.authenticationStatus(newCall(), 'whatever')).toMatchObject(unknown);
        expect(await replying.expireAuthentication(newCall(), 'whatever')).toMatchObject(unknown);
      });

      it('passes on the answers that say until when an authentication is valid, or that it has ended', async () => {
        const token = await confirmed('Smith');
        const { reply } = await replying.authenticationStatus(newCall(), token);
        const { authenticated, authenticatedAt, expiresAt } = JSON.parse(reply!.body);
        expect([reply!.status, authenticated]).toEqual([200, true]);
        expect(Date.parse(expiresAt) - Date.parse(authenticatedAt)).toBe(365 * 86_400_000);
        expect((await replying.expireAuthentication(newCall(), token)).reply).toMatchObject({
          status: 200,
          body: '"EXPIRED"',
        });
        const ended = (await replying.authenticationStatus(newCall(), token)).reply;
        expect(JSON.parse(ended!.body)).toEqual({ authenticated: false, authenticatedAt: null, expiresAt: null });
      });

      it('is begun once for each attempt, and its outcome can be requested', async () => {
        const token = await confirmed('Kbatest');
        const call = newCall();
        await harness.loseNextAnswer();
        const verdict = await replying.reauthenticate(call, token, DEVICE);
        expect(verdict).toMatchObject({ kind: 'step-up', reply: { status: 200 } });
        expect(await replying.outcomeOf(call)).toEqual({ kind: 'reauthentication', verdict });
        expect(await replying.reauthenticate(call, token, DEVICE)).toEqual(verdict);
        expect(await harness.calls(call.attemptId)).toEqual({ received: 2, executed: 1 });
      });

      it('has ended even if the answer was lost', async () => {
        const token = await confirmed('Smith');
        const call = newCall();
        await harness.loseNextAnswer();
        expect(await vendor.expireAuthentication(call, token)).toEqual({ kind: 'expired' });
        expect(await harness.calls(call.attemptId)).toEqual({ received: 2, executed: 1 });
        expect(await standing(token)).toBe(false);
      });

      it('is unavailable while the vendor is down', async () => {
        const token = await confirmed('Smith');
        await harness.outage(60);
        try {
          expect(await replying.reauthenticate(newCall(), token, DEVICE)).toEqual({ kind: 'unavailable' });
          expect(await replying.authenticationStatus(newCall(), token)).toEqual({ kind: 'unavailable' });
          expect(await replying.expireAuthentication(newCall(), token)).toEqual({ kind: 'unavailable' });
        } finally {
          await harness.outage(0);
        }
      });
    });

    describe('the answer that comes with a verdict', () => {
      it('is present for registrations, answers and resends, and still known when the outcome is requested', async () => {
        const calls = { register: newCall(), wrong: newCall(), resend: newCall(), right: newCall() };
        const registered = await replying.register(calls.register, person('Otptest'));
        if (registered.kind !== 'step-up') throw new Error('expected a step-up');
        const { vendorSession } = registered;
        const verdicts = {
          register: registered,
          wrong: await replying.verifyOtp(calls.wrong, vendorSession, '000000'),
          resend: await replying.resendOtp(calls.resend, vendorSession),
          right: await replying.verifyOtp(calls.right, vendorSession, RIGHT_CODE),
        };
        for (const [name, { reply }] of Object.entries(verdicts)) {
          expect(reply).toMatchObject({ status: expect.any(Number), code: null, field: null });
          expect(JSON.parse(reply!.body)).toEqual(expect.any(Object));
          const past = await replying.outcomeOf(calls[name as keyof typeof calls]);
          expect(past).toMatchObject({ verdict: { reply } });
        }
      });

      it('has the number of a refusal, and the field when the vendor names one', async () => {
        const code = async (middleName: string): Promise<unknown> =>
          (await replying.register(newCall(), person('Smith', { middleName }))).reply;
        expect(await code('Upstream18')).toMatchObject({ status: 422, code: 18, field: null });
        expect(await code('Upstream258')).toMatchObject({ status: 503, code: 258, field: null });
        expect(await code('Upstream999')).toMatchObject({ status: 422, code: 999, field: null });
        const { reply } = await replying.register(newCall(), person(''));
        expect(reply).toMatchObject({ status: 400, field: 'person.lastName' });
      });

      it.each(['Downtest', 'Resettest', 'Redirecttest', 'Garbledtest'])('is absent for %s', async (lastName) => {
        expect(await replying.register(newCall(), person(lastName))).not.toHaveProperty('reply');
      });
    });

    describe('idempotency and outcomes', () => {
      it('makes the vendor execute a repeated attempt once', async () => {
        const call = newCall();
        const first = await vendor.register(call, person('Smith'));
        expect(await vendor.register(call, person('Smith'))).toEqual(first);
        expect(await harness.calls(call.attemptId)).toEqual({ received: 2, executed: 1 });
      });

      it('uses up no second attempt when an answer is repeated', async () => {
        const { vendorSession } = await stepUp('Otptest');
        const call = newCall();
        await vendor.verifyOtp(call, vendorSession, '000000');
        expect(await vendor.verifyOtp(call, vendorSession, '000000')).toEqual({ kind: 'wrong', attemptsRemaining: 2 });
        expect(await vendor.verifyOtp(newCall(), vendorSession, '000000')).toEqual({
          kind: 'wrong',
          attemptsRemaining: 1,
        });
      });

      it('does not confuse the verdicts of two calls with the same attempt id', async () => {
        const call = newCall();
        await vendor.register(call, person('Smith'));
        expect(await vendor.register(call, person('Jones'))).toEqual({ kind: 'unintelligible' });
      });

      it('reports the outcome of a registration, an answer and a resend', async () => {
        const calls = {
          register: newCall(),
          wrong: newCall(),
          resend: newCall(),
          right: newCall(),
          refused: newCall(),
        };
        const registered = await vendor.register(calls.register, person('Choicetest'));
        if (registered.kind !== 'step-up') throw new Error('expected a step-up');
        await vendor.verifyOtp(calls.wrong, registered.vendorSession, '000000');
        await vendor.resendOtp(calls.resend, registered.vendorSession);
        await vendor.verifyKba(calls.right, registered.vendorSession, RIGHT_ANSWERS);
        await vendor.register(calls.refused, person('Fraudtest'));
        expect(await vendor.outcomeOf(calls.register)).toEqual({ kind: 'registration', verdict: registered });
        expect(await vendor.outcomeOf(calls.wrong)).toEqual({
          kind: 'answer',
          verdict: { kind: 'wrong', attemptsRemaining: 2 },
        });
        expect(await vendor.outcomeOf(calls.resend)).toEqual({ kind: 'resend', verdict: { kind: 'sent' } });
        expect(await vendor.outcomeOf(calls.right)).toEqual({ kind: 'answer', verdict: CONFIRMED });
        expect(await vendor.outcomeOf(calls.refused)).toEqual({
          kind: 'registration',
          verdict: { kind: 'refused', reason: 'FRAUD_REPORTED' },
        });
      });

      it('never executes an attempt that was reported as "not executed"', async () => {
        const call = newCall();
        expect(await vendor.outcomeOf(call)).toEqual({ kind: 'not-executed' });
        expect(await vendor.register(call, person('Smith'))).toEqual({ kind: 'unavailable' });
        expect(await vendor.outcomeOf(call)).toEqual({ kind: 'not-executed' });
        expect(await harness.calls(call.attemptId)).toEqual({ received: 1, executed: 0 });
      });

      it('learns the verdict although the answer was lost, without a second execution', async () => {
        const call = newCall();
        await harness.loseNextAnswer();
        const verdict = await vendor.register(call, person('Otptest'));
        if (verdict.kind !== 'step-up') throw new Error(`expected a step-up, got ${verdict.kind}`);
        const answer = newCall();
        await harness.loseNextAnswer();
        expect(await vendor.verifyOtp(answer, verdict.vendorSession, RIGHT_CODE)).toEqual(CONFIRMED);
        expect(await harness.calls(call.attemptId)).toEqual({ received: 1, executed: 1 });
        expect(await harness.calls(answer.attemptId)).toEqual({ received: 1, executed: 1 });
      });

      it('answers unavailable while the vendor is down, and works again afterwards', async () => {
        const { vendorSession } = await stepUp('Otptest');
        const call = newCall();
        await harness.outage(60);
        try {
          expect(await vendor.register(newCall(), person('Smith'))).toEqual({ kind: 'unavailable' });
          expect(await vendor.verifyOtp(call, vendorSession, RIGHT_CODE)).toEqual({ kind: 'unavailable' });
          expect(await vendor.outcomeOf(call)).toEqual({ kind: 'unavailable' });
        } finally {
          await harness.outage(0);
        }
        expect(await harness.calls(call.attemptId)).toEqual({ received: 1, executed: 0 });
        expect(await vendor.verifyOtp(newCall(), vendorSession, RIGHT_CODE)).toEqual(CONFIRMED);
      });
    });
  });
}
