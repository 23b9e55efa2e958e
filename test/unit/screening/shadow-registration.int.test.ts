// The call to the shadow of a route: when it is made, what is recorded, and that the person's call never waits for it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { derivedId } from '../../../src/kernel/ids.js';
import { unstored } from '../../../src/kernel/loaded-aggregate.js';
import { ShadowRegistration } from '../../../src/modules/screening/application/shadow-registration.js';
import { screeningSession } from '../../../src/modules/screening/domain/screening-session.js';
import { resultOf } from '../../../src/modules/screening/domain/vendor-comparisons.js';
import { GroupedStream } from '../../../src/platform/aggregates/grouped-stream.js';
import type { Applicant, IdentityVendor, RegistrationVerdict, VendorCall } from '../../../src/ports/identity-vendor.js';
import { SetClock } from '../../support/clock.js';
import { given } from '../../support/decider.js';
import { until } from '../../support/eventually.js';
import { CallsAtOnce } from '../../support/external-calls.js';
import { SetRoutes } from '../../support/vendor-routes.js';
import { SUBMIT } from './sessions.js';

const APPLICANT: Applicant = { userType: 'CONSUMER', firstName: 'Ada', lastName: 'Canary', jscPayload: 'fingerprint' };
const CONFIRMED: RegistrationVerdict = { kind: 'confirmed', vendorSession: 'canary-session' };
const STREAM = 'vendor_comparisons-installation';

/** Every call hangs, as behind a queue that does not answer. */
class HangingCalls extends CallsAtOnce {
  override make = (): Promise<never> => new Promise(() => undefined);
}

/** Every call fails, as without the vault. */
class FailingCalls extends CallsAtOnce {
  override make = async (): Promise<never> => {
    throw new Error('The vault is away');
  };
}

describe('the shadow of a route', () => {
  const folder = mkdtempSync(join(tmpdir(), 'shadow-'));
  let store: EmbeddedEventStore;
  let asked: { readonly call: VendorCall; readonly applicant: Applicant }[];
  let shadowSays: RegistrationVerdict;

  beforeEach(() => {
    store = EmbeddedEventStore.open({ directory: mkdtempSync(join(folder, 'log-')), mapSizeBytes: 16 * 2 ** 20 });
    asked = [];
  });
  afterEach(async () => {
    await store.close();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function shadowOf(vendor: string | null = 'acme', calls = new CallsAtOnce()): ShadowRegistration {
    const identityVendor = {
      register: async (call: VendorCall, applicant: Applicant) => {
        asked.push({ call, applicant });
        return shadowSays;
      },
    } as unknown as IdentityVendor;
    const streams = new GroupedStream(store, new SetClock(), { appendConflict: () => undefined });
    return new ShadowRegistration(calls, new SetRoutes(undefined, null, vendor), identityVendor, streams);
  }

  const decided = {
    id: '0190a6d0-0000-7000-8000-000000000002',
    attemptId: 'registration',
    context: {
      accountId: '0190a6d0-0000-7000-8000-000000000001',
      environment: 'test',
      actor: { kind: 'platform-token', id: 'token' },
      correlationId: 'request',
      causationId: 'request',
    },
    known: unstored(given(screeningSession).when(SUBMIT).decided.state),
  } as const;

  it('gets the person under a key of its own, and only the kinds of both verdicts are recorded', async () => {
    shadowSays = { kind: 'refused', reason: 'DECEASED' };
    shadowOf().begin(decided, CONFIRMED, APPLICANT);
    await until('the comparison is recorded', async () => (await store.readStream(STREAM)).length > 0);
    expect(asked).toEqual([
      {
        call: expect.objectContaining({
          vendor: 'acme',
          attemptId: derivedId('registration', 'shadow'),
          correlationId: 'request',
          subject: 'subject',
        }),
        applicant: APPLICANT,
      },
    ]);
    const [event] = await store.readStream(STREAM);
    const data = {
      sessionId: decided.id,
      first: { vendor: 'idv', verdict: 'confirmed' },
      shadow: { vendor: 'acme', verdict: 'refused' },
    };
    expect(event).toMatchObject({
      type: 'VendorsCompared',
      data,
      metadata: { environment: 'test', actor: { kind: 'system', id: 'shadow-vendor' } },
    });
    expect(JSON.stringify(event)).not.toMatch(/canary|DECEASED/i);
  });

  it.each<[string, () => ShadowRegistration, RegistrationVerdict]>([
    ['the route has no shadow', () => shadowOf(null), CONFIRMED],
    ['the first vendor gave no verdict', () => shadowOf(), { kind: 'timed-out' }],
    ['the queue hangs', () => shadowOf('acme', new HangingCalls()), CONFIRMED],
    ['the vault is away', () => shadowOf('acme', new FailingCalls()), CONFIRMED],
  ])('is not called when %s, and the call of the person goes on', async (_when, shadow, verdict) => {
    shadow().begin(decided, verdict, APPLICANT);
    await new Promise(setImmediate);
    expect([asked, await store.readStream(STREAM)]).toEqual([[], []]);
  });

  it.each([
    ['confirmed', 'confirmed', 'agree'],
    ['refused', 'refused', 'agree'],
    ['confirmed', 'step-up', 'differ'],
    ['under-review', 'confirmed', 'differ'],
    ['confirmed', 'timed-out', 'unanswered'],
    ['refused', 'unavailable', 'unanswered'],
  ] as const)('of %s and %s makes: %s', (first, shadow, result) => {
    expect(resultOf({ first: { vendor: 'idv', verdict: first }, shadow: { vendor: 'acme', verdict: shadow } })).toBe(
      result,
    );
  });
});
