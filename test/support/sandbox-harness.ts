// The sandbox in this process, for contract suites. The harness offers the sandbox's controls, and registers persons
// with the identity vendor.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IdvIdentityVendor } from '../../src/vendors/idv/identity.js';
import { newId } from '../../src/kernel/ids.js';
import type { Applicant } from '../../src/ports/identity-vendor.js';
import type { VendorCall } from '../../src/ports/vendor-call.js';
import { SandboxIdentityVendor } from '../../src/vendors/idv/double/identity-vendor.js';
import { SandboxIncomeVendor } from '../../src/vendors/voie/double/income-vendor.js';
import { startSandbox } from '../../sandbox/server.js';

/** The delay of the answer for a slow person. The delay is short, but longer than that of any other answer. */
export const SLOW_MS = 600;
export const SANDBOX_CREDENTIAL = 'test-credential';

export interface SandboxHarness {
  readonly url: string;
  control(path: string, body?: object): Promise<any>;
  /** Returns the vendor's token. Agents and organizations have no SSN. */
  register(lastName: string, more?: Partial<Applicant>): Promise<string>;
  /** Returns the token of the person when the code was right, and the token of the session otherwise. */
  answerOtp(vendorSession: string, code: string): Promise<string>;
  close(): Promise<void>;
}

export async function sandboxHarness(): Promise<SandboxHarness> {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-harness-'));
  const identityPart = new SandboxIdentityVendor({ folder, credential: SANDBOX_CREDENTIAL, slowMs: SLOW_MS });
  const incomePart = new SandboxIncomeVendor({
    folder,
    credential: SANDBOX_CREDENTIAL,
    personOf: (token) => identityPart.personOf(token),
  });
  const sandbox = await startSandbox({ host: '127.0.0.1', port: 0, parts: [identityPart, incomePart] });
  const identity = new IdvIdentityVendor({ baseUrl: sandbox.url, credential: SANDBOX_CREDENTIAL, timeoutMs: 10_000 });
  const call = (): VendorCall => ({ attemptId: newId(), correlationId: newId(), environment: 'test', subject: null });
  return {
    url: sandbox.url,
    async control(path, body) {
      const post = body && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      };
      const response = await fetch(`${sandbox.url}/control/${path}`, post);
      if (!response.ok) throw new Error(`control ${path} answered ${response.status}`);
      return response.json();
    },
    async register(lastName, more = {}) {
      const verdict = await identity.register(call(), {
        userType: 'CONSUMER',
        firstName: 'Jo',
        lastName,
        dateOfBirth: '01311980',
        ...(more.userType === undefined || more.userType === 'CONSUMER' ? { ssn: '666443210' } : {}),
        phoneNumber: '2025550143',
        phoneType: 'C',
        address: { street: '1 Main St', city: 'Springfield', state: 'IL', zip: '62701' },
        jscPayload: 'fingerprint',
        termsAcceptedAt: '2026-01-02T03:04:05.678Z',
        ...more,
      });
      if (verdict.kind !== 'confirmed' && verdict.kind !== 'step-up')
        throw new Error(`expected a session, got ${verdict.kind}`);
      return verdict.vendorSession;
    },
    async answerOtp(vendorSession, code) {
      const verdict = await identity.verifyOtp(call(), vendorSession, code);
      return verdict.kind === 'confirmed' ? (verdict.personToken ?? vendorSession) : vendorSession;
    },
    async close() {
      await identity.close();
      await sandbox.close();
      rmSync(folder, { recursive: true });
    },
  };
}
