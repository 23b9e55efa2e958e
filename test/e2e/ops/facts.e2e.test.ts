// The log of a case says who asked, what was shown, what was refused, what it cost and how the vendors answered, and nothing personal.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { INSTALLATION_TERMS } from '../../../src/modules/screening/domain/installation-terms.js';
import { aPerson, type Credentials, type PlatformCaller, Service } from '../../support/service.js';

type Shown = any;
const AGENT = 'Canary/1.0 (a browser)';
const WITH_AGENT = { 'user-agent': AGENT };

let service: Service;
let accounts: Credentials['accounts'];
let page: PlatformCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
  const { exitCode, stdout } = await service.ops('accounts', 'set', accounts.child.accountId, '--payer', 'account');
  if (exitCode !== 0) throw new Error(stdout);
  page = await service.signIn('child');
});
afterAll(() => service?.stop());

async function historyOf(sessionId: string): Promise<{ readonly text: string; readonly events: Shown[] }> {
  const { exitCode, stdout: text } = await service.ops('timeline', sessionId);
  expect({ exitCode, text }).toMatchObject({ exitCode: 0 });
  return {
    text,
    events: text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  };
}

describe('the history of a case', () => {
  it('says who asked, what the vendors answered, what was shown, refused and debited, and contains nothing personal', async () => {
    const submitted = await page.post(
      '/screening/submit',
      aPerson({ endUserType: 'PROPERTY_MANAGEMENT', termsVersion: 'standard-1', termsLanguage: 'es' }),
      WITH_AGENT,
    );
    expect(submitted.status).toBe(200);
    const { id } = submitted.body;
    expect(
      (await service.request('GET', `/v1/reports/${id}`, { headers: { 'x-secret-key': accounts.unrelated.secretKey } }))
        .status,
    ).toBe(404);
    const shown = await page.get(`/reports/${id}`, { ...WITH_AGENT, accept: 'text/html' });
    expect(shown.status).toBe(200);
    const stranger = await service.signIn('unrelated');
    expect((await stranger.get(`/reports/${id}`)).status).toBe(403);
    const { text, events } = await historyOf(id);
    const of = (type: string): Shown[] => events.filter(({ event }) => event === type);
    const askedBy = {
      tokenId: expect.any(String),
      origin: expect.stringMatching(/^https?:\/\//),
      addressHash: expect.stringMatching(/^[\w-]{22}$/),
      agentHash: expect.stringMatching(/^[\w-]{22}$/),
    };
    expect(of('ScreeningSubmitted')).toMatchObject([{ askedBy }]);
    const [consented, opened] = [of('ConsentGiven')[0], of('ScreeningSubmitted')[0]];
    const paragraphs = INSTALLATION_TERMS.text.es;
    expect(consented).toMatchObject({
      askedBy: (opened as any).askedBy,
      requestId: opened?.requestId,
      data: {
        recordedBy: 'PAGE',
        termsVersion: 'standard-1',
        language: 'es',
        textDigest: createHash('sha256')
          .update(JSON.stringify(['standard-1', 'es', paragraphs]))
          .digest('hex'),
      },
    });
    expect(of('IdentityVerified')).toMatchObject([
      { vendorCall: { operation: 'register', outcome: 'confirmed', end: '200' } },
    ]);
    expect(of('ReportReleased')).toMatchObject([
      {
        data: { bodyDigest: expect.any(String) },
        vendorCall: { operation: 'pullReport', latencyMs: expect.any(Number) },
      },
    ]);
    expect(of('ReportViewed')).toMatchObject([
      { askedBy, data: { format: 'html', endUserType: 'PROPERTY_MANAGEMENT', digest: expect.any(String) } },
    ]);
    expect(
      of('ReportReadRefused')
        .map(({ data }) => [data.viewerAccountId, data.code])
        .sort(),
    ).toEqual(
      [
        [accounts.unrelated.accountId, 'screening.not_found'],
        [accounts.unrelated.accountId, 'sharing.not_found'],
      ].sort(),
    );
    expect(of('CreditDebited')).toMatchObject([
      { data: { sessionId: id }, requestId: of('ReportViewed')[0]?.requestId },
    ]);
    for (const personal of [AGENT, 'Canary', '127.0.0.1', '::1', '1 Main Street', 'Ada'])
      expect(text).not.toContain(personal);
    expect((await service.ops('audit', 'verify')).exitCode).toBe(0);
  });
});

describe('the looks of operators', () => {
  it('are recorded for a session with the purpose and the ticket, and a look at an unknown session is not', async () => {
    const { id } = (await page.submit()).body;
    const why = ['--purpose', 'the consumer disputes the report', '--ticket', 'SUP-1'];
    expect((await service.ops('timeline', id, ...why)).exitCode).toBe(0);
    const shown = await service.ops('screenings', 'show', id);
    expect({ shown }).toMatchObject({ shown: { exitCode: 0 } });
    expect((await service.ops('stream', 'show', `screening-${id}`)).exitCode).toBe(0);
    const unknown = '018f0000-0000-7000-8000-000000000000';
    expect((await service.ops('timeline', unknown)).exitCode).toBe(1);
    const usesOf = async (subject: string): Promise<Shown[]> => {
      const { exitCode, stdout } = await service.ops('operators', 'uses', '--subject', subject);
      expect(exitCode).toBe(0);
      return stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    };
    const unsaid = { purpose: 'none given outside production', options: [] };
    expect(await usesOf(id)).toMatchObject([
      { tool: 'stream show', subject: { kind: 'stream', id: `screening-${id}` }, ...unsaid },
      { tool: 'screenings show', subject: { kind: 'screening', id }, ...unsaid },
      {
        tool: 'timeline',
        subject: { kind: 'screening', id },
        purpose: why[1],
        ticket: 'SUP-1',
        by: expect.any(String),
      },
    ]);
    expect(await usesOf(unknown)).toEqual([]);
  });
});
