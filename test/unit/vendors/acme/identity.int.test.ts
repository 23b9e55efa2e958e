// The identity adapter of acme with the double of acme.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startSandbox, type RunningSandbox } from '../../../../sandbox/server.js';
import { newId } from '../../../../src/kernel/ids.js';
import type { Applicant, IdentityVendor, RegistrationVerdict } from '../../../../src/ports/identity-vendor.js';
import type { VendorCall } from '../../../../src/ports/vendor-call.js';
import type { OpenVendor } from '../../../../src/vendor-kit/define-vendor.js';
import { openAcme } from '../../../../src/vendors/acme/adapter.js';
import { AcmeDouble } from '../../../../src/vendors/acme/double/acme.js';

const APPLICANT: Applicant = {
  userType: 'CONSUMER',
  firstName: 'Ada',
  middleName: 'Maria',
  lastName: 'Example',
  dateOfBirth: '04121990',
  ssn: '666123456',
  phoneNumber: '4155550134',
  phoneType: 'C',
  email: 'ada@example.com',
  address: { street: '1 Main Street', city: 'San Francisco', state: 'CA', zip: '94105' },
  ipAddress: '203.0.113.7',
  jscPayload: 'fingerprint',
  hdimPayload: 'second fingerprint',
  termsAcceptedAt: '2026-01-02T03:04:05.678Z',
};

describe('the adapter of acme', () => {
  const folder = mkdtempSync(join(tmpdir(), 'acme-adapter-'));
  const secrets = { clientId: 'client', clientSecret: 'secret' };
  let time = Date.UTC(2026, 2, 1, 12);
  let double: AcmeDouble;
  let sandbox: RunningSandbox;
  let opened: OpenVendor;
  let acme: IdentityVendor;

  beforeAll(async () => {
    double = new AcmeDouble({ folder, ...secrets, now: () => time });
    sandbox = await startSandbox({ host: '127.0.0.1', port: 0, parts: [double] });
    opened = openAcme({ url: sandbox.url, clientId: 'client', clientSecret: () => 'secret', timeoutMs: 10_000 });
    acme = opened.identity!;
  });
  afterAll(async () => {
    await opened.close();
    await sandbox.close();
    rmSync(folder, { recursive: true });
  });

  const aCall = (more: Partial<VendorCall> = {}): VendorCall => ({
    attemptId: newId(),
    correlationId: newId(),
    environment: 'test',
    subject: null,
    ...more,
  });
  const control = async (path: string, body?: object): Promise<any> => {
    const headers = { 'content-type': 'application/json' };
    const post = body && { method: 'POST', headers, body: JSON.stringify(body) };
    return (await fetch(`${sandbox.url}/control/${path}`, post)).json();
  };
  const register = (lastName: string, more: Partial<Applicant> = {}, call = aCall()): Promise<RegistrationVerdict> =>
    acme.register(call, { ...APPLICANT, lastName, ...more });
  const sessionOf = async (lastName: string): Promise<string> => {
    const verdict = await register(lastName);
    if (!('vendorSession' in verdict)) throw new Error(`expected a session, got ${verdict.kind}`);
    return verdict.vendorSession;
  };

  it('tells the verdict of each kind of person', async () => {
    const expected: readonly (readonly [lastName: string, verdict: object, more?: Partial<Applicant>])[] = [
      ['Example', { kind: 'confirmed', vendorSession: expect.stringContaining('ver_') }],
      ['Otptest', { kind: 'step-up', otp: true, kba: null }],
      ['Choicetest', { kind: 'step-up', otp: true, kba: [{ id: 1 }, { id: 2 }, { id: 3 }] }],
      ['Notfound', { kind: 'refused', reason: 'IDENTITY_NOT_FOUND' }],
      ['Fraudtest', { kind: 'refused', reason: 'FRAUD_REPORTED' }],
      ['Sanctiontest', { kind: 'refused', reason: 'SANCTIONS_MATCH' }],
      ['Alerttest', { kind: 'refused', reason: 'ALERT_LIST_MATCH' }],
      ['Deceasedtest', { kind: 'refused', reason: 'DECEASED' }],
      ['Minortest', { kind: 'refused', reason: 'MINOR_CONSUMER' }],
      ['Addresstest', { kind: 'input-refused', input: 'address' }],
      ['Moredatatest', { kind: 'input-refused', input: 'more-identification' }],
      ['Sourcetest', { kind: 'unavailable' }],
      ['Busytest', { kind: 'unavailable', retryAfterSeconds: 7 }],
      ['Downtest', { kind: 'unavailable', retryAfterSeconds: 7 }],
      ['Example', { kind: 'input-refused', input: 'ssn' }, { ssn: '12' }],
      ['Example', { kind: 'input-refused', input: 'date-of-birth' }, { dateOfBirth: '1990-04-12x' }],
      ['Example', { kind: 'input-refused', input: 'phone' }, { phoneNumber: '415' }],
      [
        'Example',
        { kind: 'input-refused', input: 'state' },
        { address: { ...APPLICANT.address, state: 'California' } },
      ],
      ['', { kind: 'input-refused', input: 'last-name' }],
    ];
    const verdicts = await Promise.all(expected.map(([lastName, , more]) => register(lastName, more)));
    expect(verdicts).toMatchObject(expected.map(([, verdict]) => verdict));
    const { ssn: _none, ...withoutSsn } = APPLICANT;
    expect(await acme.register(aCall(), withoutSsn)).toEqual({ kind: 'input-refused', input: 'ssn-missing' });
  });

  it('sends every fact of the applicant that acme takes', async () => {
    const call = aCall();
    await register('Example', {}, call);
    expect(double.understood(call.attemptId)).toEqual(APPLICANT);
  });

  it('maps the keys of the questions to places and back', async () => {
    const verdict = await register('Kbatest');
    if (verdict.kind !== 'step-up') throw new Error(`expected questions, got ${verdict.kind}`);
    expect(verdict.kba?.[1]).toEqual({
      id: 2,
      text: 'Which bank has lent you money?',
      answers: [
        { id: 1, text: 'Sample Bank' },
        { id: 2, text: 'Example Bank' },
        { id: 3, text: 'Specimen Bank' },
        { id: 4, text: 'None of these' },
      ],
    });
    const chosen = (...ids: number[]) => ids.map((answerId, place) => ({ questionId: place + 1, answerId }));
    const { vendorSession } = verdict;
    expect(await acme.verifyKba(aCall(), vendorSession, chosen(4, 4, 4))).toEqual({
      kind: 'wrong',
      attemptsRemaining: 2,
    });
    expect(await acme.verifyKba(aCall(), vendorSession, chosen(1, 2, 3))).toEqual({ kind: 'confirmed' });
  });

  it('tells whether a code was right, wrong, or came too late', async () => {
    const session = await sessionOf('Otptest');
    expect(await acme.verifyOtp(aCall(), session, '000000')).toEqual({ kind: 'wrong', attemptsRemaining: 2 });
    expect(await acme.resendOtp(aCall(), session)).toEqual({ kind: 'sent' });
    expect(await acme.verifyOtp(aCall(), session, '123456')).toEqual({ kind: 'confirmed' });
    expect(await acme.verifyOtp(aCall(), session, '123456')).toEqual({ kind: 'session-over' });
    expect(await acme.verifyOtp(aCall(), 'the session of another vendor', '123456')).toEqual({ kind: 'session-over' });
    const strict = await sessionOf('Lockedtest');
    const unblockAt = new Date(time + 86_400_000).toISOString();
    expect(await acme.verifyOtp(aCall(), strict, '000000')).toEqual({ kind: 'locked', unblockAt });
    expect(await acme.resendOtp(aCall(), strict)).toEqual({ kind: 'locked', unblockAt });
  });

  it('renews its token once when acme refuses it, with one token request for many calls', async () => {
    const tokens: number = (await control('calls')).tokens;
    await control('revocation', {});
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => register('Example')));
    expect(new Set(verdicts.map(({ kind }) => kind))).toEqual(new Set(['confirmed']));
    expect((await control('calls')).tokens).toBe(tokens + 1);
  });

  it('tells the outcome of an earlier attempt', async () => {
    const [registration, refusal, answer] = [aCall(), aCall(), aCall()];
    const session = await sessionOf('Otptest');
    const [confirmed] = await Promise.all([
      register('Example', {}, registration),
      register('Example', { ssn: '12' }, refusal),
      acme.verifyOtp(answer, session, '000000'),
    ]);
    expect(await acme.outcomeOf(registration)).toEqual({ kind: 'registration', verdict: confirmed });
    expect(await acme.outcomeOf(refusal)).toEqual({
      kind: 'registration',
      verdict: { kind: 'input-refused', input: 'ssn' },
    });
    expect(await acme.outcomeOf(answer)).toEqual({ kind: 'answer', verdict: { kind: 'wrong', attemptsRemaining: 2 } });
    expect(await acme.outcomeOf(aCall())).toEqual({ kind: 'not-executed' });
  });

  it('tells that people review, and their decision when it is asked again', async () => {
    const call = aCall();
    const verdict = await register('Reviewtest', {}, call);
    if (verdict.kind !== 'under-review') throw new Error(`expected a review, got ${verdict.kind}`);
    const again = () => acme.outcomeOf({ ...call, correlationId: newId() }, verdict.vendorSession);
    expect(await again()).toEqual({ kind: 'registration', verdict });
    const { verifications } = await control('verifications');
    const { id } = verifications.find(({ state }: { state: string }) => state === 'manual_review');
    await control(`verifications/${id}/decision`, { decision: 'declined' });
    expect(await again()).toEqual({
      kind: 'registration',
      verdict: { kind: 'refused', reason: 'IDENTITY_NOT_FOUND' },
    });
  });

  it('does not know the verdict when a look at the verification hangs, and learns it later', async () => {
    const impatient = openAcme({
      url: sandbox.url,
      clientId: 'client',
      clientSecret: () => 'secret',
      timeoutMs: 1_500,
    });
    const call = aCall();
    expect(await impatient.identity!.register(call, { ...APPLICANT, lastName: 'Latetest' })).toEqual({
      kind: 'timed-out',
    });
    expect(await impatient.identity!.outcomeOf(call)).toEqual({ kind: 'timed-out' });
    time += 30_000;
    expect(await acme.outcomeOf(call)).toMatchObject({ kind: 'registration', verdict: { kind: 'confirmed' } });
    await impatient.close();
  });
});
