// A property of the stored log: a consent, with its proof, precedes every call to a vendor, every pull and every share. Generated flows of all APIs
// write the log, together with the other suites of this service.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import type { AskedBy } from '../../../src/kernel/asked-by.js';
import { idOf, type RecordedEvent } from '../../../src/kernel/domain-event.js';
import { INCOME_TERMS, INSTALLATION_TERMS } from '../../../src/modules/screening/domain/installation-terms.js';
import type { Consent } from '../../../src/modules/screening/domain/consent.js';
import { DirectCaller } from '../../support/direct.js';
import { aPerson, type PlatformCaller, Service } from '../../support/service.js';

const AGENT = { 'user-agent': 'Generated/1.0' };
const UNIT = { unitAddress: '12 Elm Street' };

let service: Service;
let page: PlatformCaller;
let direct: DirectCaller;
let accountId: string;
let renters = 0;

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accountId } = (await service.credentials()).accounts.nopay);
  page = await service.signIn('nopay', undefined, AGENT);
  direct = await DirectCaller.of(service);
  await direct.registered('agents', 'agent-1');
});
afterAll(() => service?.stop());

const persona = fc.constantFrom('Example', 'Otptest', 'Kbatest', 'Notfound', 'Frozentest', 'Nohittest', 'Downtest');
const language = fc.constantFrom('en', 'es', undefined);
const afterwards = fc.array(fc.constantFrom('read', 'print', 'share', 'revoke', 'server', 'income', 'otp', 'link'), {
  maxLength: 5,
});
const flow = fc.oneof(
  fc.record({ api: fc.constant('page' as const), persona, language, granted: fc.boolean(), afterwards }),
  fc.record({ api: fc.constant('direct' as const), persona, afterwards }),
  fc.record({ api: fc.constant('income' as const), language, asserted: fc.boolean() }),
);
type Flow = typeof flow extends fc.Arbitrary<infer Value> ? Value : never;
type Step = Extract<Flow, { api: 'page' }>['afterwards'][number];

async function run(one: Flow): Promise<void> {
  switch (one.api) {
    case 'page': {
      const caller = one.granted ? await service.signInUnderGrant('nopay') : page;
      const said = one.language && { termsVersion: INSTALLATION_TERMS.version, termsLanguage: one.language };
      const { body } = await caller.post('/screening/submit', aPerson({ lastName: one.persona, ...said }), AGENT);
      const id: string = body.id ?? body.error.sessionId ?? body.sessionId;
      for (const step of one.afterwards) await onPage(caller, id, step);
      return;
    }
    case 'direct': {
      const renter = `generated-${(renters += 1)}`;
      await direct.register('renters', renter, { lastName: one.persona });
      for (const step of one.afterwards) await onDirect(renter, step);
      return;
    }
    case 'income': {
      const { version } = INCOME_TERMS;
      const terms = {
        terms_accepted_at: new Date().toISOString(),
        terms_version: version,
        terms_language: one.language,
      };
      await page.post('/voie/sessions', one.asserted ? {} : terms, AGENT);
      return;
    }
    default:
      one satisfies never;
  }
}

async function onPage(caller: PlatformCaller, id: string, step: Step): Promise<unknown> {
  const { secretKey } = (await service.credentials()).accounts.nopay;
  const html = { ...AGENT, accept: 'text/html' };
  if (step === 'otp') return caller.post(`/screening/${id}/otp`, { code: '123456' }, AGENT);
  if (step === 'print') return caller.get(`/reports/${id}`, html);
  if (step === 'share' || step === 'link') return caller.post(`/reports/${id}/consent-to-share`, {}, AGENT);
  if (step === 'revoke') return caller.post(`/reports/${id}/revoke-sharing`, {}, AGENT);
  if (step === 'income') return caller.post('/voie/sessions', { screening_session_id: id }, AGENT);
  if (step === 'server') return service.request('GET', `/v1/reports/${id}`, { headers: { 'x-secret-key': secretKey } });
  return caller.get(`/reports/${id}`, AGENT);
}

async function onDirect(renter: string, step: Step): Promise<unknown> {
  if (step === 'otp') return direct.post(`/renters/${renter}/otp`, { code: '123456' });
  if (step === 'share' || step === 'link') return direct.put(`/agents/agent-1/renters/${renter}`, UNIT);
  if (step === 'revoke') return direct.delete(`/agents/agent-1/renters/${renter}`);
  if (step === 'server') return direct.get(`/agents/agent-1/renters/${renter}/report`);
  return direct.get(`/renters/${renter}/report`);
}

async function storedEvents(): Promise<RecordedEvent[]> {
  const store = EmbeddedEventStore.open({ directory: join(service.dataDir, 'events') });
  try {
    const events: RecordedEvent[] = [];
    for (let after: string | null = null; ;) {
      const batch: RecordedEvent[] = await store.readAll(after, 1_000);
      events.push(...batch);
      after = batch.at(-1)?.position ?? null;
      if (after === null || batch.length < 1_000) return events;
    }
  } finally {
    await store.close();
  }
}

/** The events that ask a vendor, pull a report or share it. */
const COVERED: ReadonlySet<string> = new Set([
  ...['VerificationRequested', 'OtpAnswerReceived', 'KbaAnswersReceived', 'IdentityVerified'],
  ...['ReportRequested', 'ReportReleased', 'ReportShared', 'ReportViewed', 'RouteRequested', 'IncomeReportReleased'],
]);

function sessionOf({ type, stream, data }: RecordedEvent): string {
  return type === 'ReportShared' || type === 'ReportViewed'
    ? (data as { readonly sessionId: string }).sessionId
    : idOf(stream);
}

const DIGESTS = new Set(
  [INSTALLATION_TERMS, INCOME_TERMS].flatMap(({ version, text }) =>
    (['en', 'es'] as const).map((one) =>
      createHash('sha256')
        .update(JSON.stringify([version, one, text[one]]))
        .digest('hex'),
    ),
  ),
);

/** The missing parts of a consent. */
function gapsIn({ data, metadata, stream }: RecordedEvent): string[] {
  const { recordedBy, acceptedAt, language: shown, textDigest } = data as Consent;
  const { askedBy = {}, actor } = metadata as RecordedEvent['metadata'] & { readonly askedBy?: AskedBy };
  const missing = (name: string, isThere: boolean): string[] => (isThere ? [] : [`${name} of ${stream}`]);
  const asked = missing('address', askedBy.addressHash !== undefined);
  if (recordedBy === 'INTEGRATOR') return [...asked, ...missing('actor', actor.id !== '' && acceptedAt === undefined)];
  const isGenerated = askedBy.agentHash !== undefined;
  return [
    ...asked,
    ...missing('time', acceptedAt !== undefined),
    ...missing('origin', askedBy.origin !== undefined),
    ...missing('agent', isGenerated),
    ...missing('text', textDigest === undefined || (shown !== undefined && DIGESTS.has(textDigest))),
  ];
}

describe('the stored log of any flows', () => {
  it('has a whole consent before each call to a vendor, each pull, each share and each read', async () => {
    await fc.assert(fc.asyncProperty(flow, run), { numRuns: 30, endOnFailure: true });
    const events = await storedEvents();
    const consented = new Map<string, RecordedEvent>();
    const without: string[] = [];
    for (const event of events) {
      if (event.type === 'ConsentGiven') consented.set(idOf(event.stream), event);
      if (COVERED.has(event.type) && !consented.has(sessionOf(event))) without.push(`${event.type} of ${event.stream}`);
    }
    expect(without).toEqual([]);
    const own = new Set(events.filter(({ metadata }) => metadata.accountId === accountId).map(({ stream }) => stream));
    const consents = [...consented.values()].filter(({ stream }) => own.has(stream));
    expect(consents.length).toBeGreaterThan(20);
    expect(consents.flatMap(gapsIn)).toEqual([]);
    const by = (who: Consent['recordedBy']): RecordedEvent[] =>
      consents.filter(({ data }) => (data as Consent).recordedBy === who);
    expect(by('PAGE').some(({ data }) => (data as Consent).textDigest !== undefined)).toBe(true);
    // On the direct API the log says which server asserts the consent, and when.
    expect(by('INTEGRATOR').some(({ metadata }) => metadata.actor.kind === 'api-key')).toBe(true);
  }, 120_000);
});
