// The credit adapter of acme with the double of acme.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startSandbox, type RunningSandbox } from '../../../../sandbox/server.js';
import { newId } from '../../../../src/kernel/ids.js';
import type { KeptApplicant } from '../../../../src/kernel/vendor-subject.js';
import type { ReportVerdict } from '../../../../src/ports/credit-bureau.js';
import type { Applicant } from '../../../../src/ports/identity-vendor.js';
import type { VendorCall } from '../../../../src/ports/vendor-call.js';
import type { OpenVendor } from '../../../../src/vendor-kit/define-vendor.js';
import { openAcme } from '../../../../src/vendors/acme/adapter.js';
import { AcmeDouble } from '../../../../src/vendors/acme/double/acme.js';
import { ofSession, subjectWith } from '../../../support/subjects.js';

const APPLICANT: KeptApplicant = {
  userType: 'CONSUMER',
  firstName: 'Ada',
  lastName: 'Example',
  dateOfBirth: '04121990',
  ssn: '666123456',
  phoneNumber: '4155550134',
  phoneType: 'C',
  address: { street: '1 Main Street', city: 'San Francisco', state: 'CA', zip: '94105' },
};

describe('the bureau of acme', () => {
  const folder = mkdtempSync(join(tmpdir(), 'acme-credit-'));
  let time = Date.UTC(2026, 2, 1, 12);
  let double: AcmeDouble;
  let sandbox: RunningSandbox;
  let opened: OpenVendor;

  beforeAll(async () => {
    double = new AcmeDouble({ folder, clientId: 'client', clientSecret: 'secret', now: () => time });
    sandbox = await startSandbox({ host: '127.0.0.1', port: 0, parts: [double] });
    opened = openAcme({ url: sandbox.url, clientId: 'client', clientSecret: () => 'secret', timeoutMs: 10_000 });
  });
  afterAll(async () => {
    await opened.close();
    await sandbox.close();
    rmSync(folder, { recursive: true });
  });

  const aCall = (): VendorCall => ({ attemptId: newId(), correlationId: newId(), environment: 'test', subject: null });
  const pull = (more: Partial<KeptApplicant> = {}, call = aCall(), vendor = opened): Promise<ReportVerdict> =>
    vendor.credit!.pullReport(call, subjectWith({ kind: 'applicant', applicant: { ...APPLICANT, ...more } }));

  it('tells the verdict of each kind of file', async () => {
    const report = { consumer: { name: 'Ada Example', birthYear: 1990, ssnLastFour: '3456' }, background: null };
    const expected: readonly (readonly [more: Partial<KeptApplicant>, verdict: object])[] = [
      [{}, { kind: 'report', score: { model: 'Acme Rent Score 4', min: 300, max: 850 }, report }],
      [{ lastName: 'Thinfiletest' }, { kind: 'report', score: null, report: { tradeLines: [] } }],
      [{ lastName: 'Frozentest' }, { kind: 'refused', reason: 'FILE_FROZEN', upstreamCode: null }],
      [{ lastName: 'Blockedtest' }, { kind: 'refused', reason: 'FILE_BLOCKED' }],
      [{ lastName: 'Nohittest' }, { kind: 'refused', reason: 'NO_RECORD' }],
      [{ lastName: 'Disputedtest' }, { kind: 'refused', reason: 'FILE_CONDITION' }],
      [{ ssn: '12' }, { kind: 'refused', reason: 'FILE_CONDITION' }],
    ];
    const verdicts = await Promise.all(expected.map(([more]) => pull(more)));
    expect(verdicts).toMatchObject(expected.map(([, verdict]) => verdict));
  });

  it('shares its client and its access token with the verifications', async () => {
    const vendor = openAcme({ url: sandbox.url, clientId: 'client', clientSecret: () => 'secret', timeoutMs: 10_000 });
    const before: number = (await calls()).tokens;
    const applicant: Applicant = { ...APPLICANT, jscPayload: 'fingerprint' };
    const [registered, pulled] = await Promise.all([
      vendor.identity!.register(aCall(), applicant),
      pull({}, aCall(), vendor),
    ]);
    expect([registered.kind, pulled.kind]).toEqual(['confirmed', 'report']);
    expect((await calls()).tokens).toBe(before + 1);
    await vendor.close();
  });

  it('sends the person, the purpose, the end user and the consent', async () => {
    const call = aCall();
    await pull({}, call);
    expect(double.understood(call.attemptId)).toEqual({
      ...APPLICANT,
      purpose: 'tenant_screening',
      endUser: 'account',
      termsAcceptedAt: '2026-03-01T11:00:00.000Z',
    });
  });

  it('bills an attempt once and repeats its report, even when the report comes after the time limit', async () => {
    const call = aCall();
    const impatient = openAcme({
      url: sandbox.url,
      clientId: 'client',
      clientSecret: () => 'secret',
      timeoutMs: 1_500,
    });
    const billed = await reportsBilled();
    expect(await pull({ lastName: 'Slowtest' }, call, impatient)).toEqual({ kind: 'timed-out' });
    time += 2_000;
    const first = await pull({ lastName: 'Slowtest' }, call);
    expect(first.kind).toBe('report');
    expect(await pull({ lastName: 'Slowtest' }, call)).toEqual(first);
    expect(await reportsBilled()).toBe(billed + 1);
    await impatient.close();
  });

  it('is not asked about a person who is known by a session', () => {
    expect(() => opened.credit!.pullReport(aCall(), ofSession('token'))).toThrow(
      'acme knows persons by their own data only',
    );
  });

  const calls = async (): Promise<any> => (await fetch(`${sandbox.url}/control/calls`)).json();
  const reportsBilled = async (): Promise<number> => (await calls()).operations.report.billed;
});
