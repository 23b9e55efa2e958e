// The report routes over real HTTP. The module is wired by Nest, with its guards, the HTTP server and the error
// replies.
import 'reflect-metadata';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DiscoveryService } from '@nestjs/core';
import { newId } from '../../../src/kernel/ids.js';
import { declaredIn, EventHandlers } from '../../../src/platform/subscriptions/declarations.js';
import { RecoveryJob } from '../../../src/platform/subscriptions/recovery-job.js';
import type { EventHandler } from '../../../src/ports/event-handler.js';
import { Reports } from '../../../src/published/reports.js';
import { type ScreeningFacts } from '../../../src/published/screenings.js';
import { type ReportSurfaces, openSurfaces, PDF } from './surfaces.js';
import { Harness, REPORT, SCORE } from './harness.js';

const ORIGIN = 'https://app.example.test';
const HTML_LIMIT = 2_000_000;

describe('the report routes', () => {
  let harness: Harness;
  let owner: string;
  let app: ReportSurfaces['app'];
  let base: string;
  let tokens: ReportSurfaces['tokens'];
  let renderer: ReportSurfaces['renderer'];
  let files: ReportSurfaces['files'];
  let limiter: ReportSurfaces['limiter'];
  let calls: ReportSurfaces['calls'];
  let lists: ReportSurfaces['lists'];

  beforeAll(async () => {
    harness = await Harness.build();
    ({ app, base, tokens, renderer, files, limiter, calls, lists } = await openSurfaces(harness));
  });
  afterAll(async () => {
    await app.close();
    await harness.close();
  });
  beforeEach(async () => {
    owner = await harness.account();
    limiter.endWindows(60);
    renderer.answer = { kind: 'pdf', content: PDF };
    renderer.pages.length = 0;
    renderer.sources.length = 0;
    harness.bureau.asked.length = 0;
  });

  async function platform(accountId: string, claims: object = {}): Promise<Record<string, string>> {
    const now = Math.floor(Date.now() / 1_000);
    const token = await tokens.sign({
      aud: 'platform',
      sub: 'the-key',
      account_id: accountId,
      env: 'test',
      origin: ORIGIN,
      jti: newId(),
      iat: now,
      exp: now + 60,
      ...claims,
    });
    return { authorization: `Bearer ${token}`, origin: ORIGIN };
  }
  const get = (path: string, headers: Record<string, string>) => fetch(base + path, { headers });
  const post = (path: string, headers: Record<string, string>, body?: unknown) =>
    fetch(base + path, {
      method: 'POST',
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const refused = async (reply: Response): Promise<[number, string]> => [
    reply.status,
    ((await reply.json()) as any).error.code,
  ];

  it('are wired with their timer and event handler', () => {
    const discovery = app.get(DiscoveryService);
    const timers = discovery
      .getProviders()
      .flatMap(({ instance }) => (instance instanceof RecoveryJob ? [instance.name] : []));
    const handlers = declaredIn(discovery, EventHandlers).map(
      (handler) => app.get<EventHandler>(handler, { strict: false }).name,
    );
    expect([timers, handlers]).toEqual([['external-calls', 'external-calls'], ['report_credit']]);
    expect(app.get(Reports)).toBeDefined();
  });

  describe('GET /reports/{id}', () => {
    it('200 JSON with no-store', async () => {
      const sessionId = harness.session(owner);
      const reply = await get(`/reports/${sessionId}`, await platform(owner));
      expect(reply.status).toBe(200);
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        'content-type': expect.stringContaining('application/json'),
        'cache-control': 'no-store',
        vary: 'Accept, Origin',
        'x-content-type-options': 'nosniff',
      });
      const body = (await reply.json()) as object;
      expect(Object.keys(body)).toEqual(['id', 'sessionId', 'score', 'report', 'generatedAt', 'expiresAt']);
      expect(body).toMatchObject({ sessionId, score: SCORE, report: REPORT });
    });

    it('200 HTML that loads no resources and runs no scripts', async () => {
      const reply = await get(`/reports/${harness.session(owner)}`, {
        ...(await platform(owner)),
        accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8',
      });
      expect(reply.status).toBe(200);
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
        'cache-control': 'no-store',
        vary: 'Accept, Origin',
      });
      expect(await reply.text()).toContain('Ada Example');
    });

    it('406 NOT_ACCEPTABLE before a report is pulled', async () => {
      const reply = await get(`/reports/${harness.session(owner)}`, {
        ...(await platform(owner)),
        accept: 'application/pdf',
      });
      expect(await refused(reply)).toEqual([406, 'NOT_ACCEPTABLE']);
      expect(harness.bureau.asked).toEqual([]);
    });

    it('401 without a token, 404 SCREENING_NOT_FOUND for an unknown session, 403 REPORT_SHARING_NOT_FOUND for another account', async () => {
      const sessionId = harness.session(owner);
      expect(await refused(await get(`/reports/${sessionId}`, { origin: ORIGIN }))).toEqual([401, 'AUTH_UNAUTHORIZED']);
      for (const id of [newId(), 'x', 'pdf', '%00'])
        expect(await refused(await get(`/reports/${id}`, await platform(owner)))).toEqual([404, 'SCREENING_NOT_FOUND']);
      expect(await refused(await get(`/reports/${sessionId}`, await platform(await harness.account())))).toEqual([
        403,
        'REPORT_SHARING_NOT_FOUND',
      ]);
    });

    const blocked = (reasonCode: string, until: string | null = null) =>
      ({ status: 'BLOCKED', overallStatus: 'BLOCKED', block: { reasonCode, until } }) as const;
    it.each<[number, string, Partial<ScreeningFacts>]>([
      [400, 'SCREENING_SESSION_NOT_COMPLETED', { status: 'STEP_UP_REQUIRED', overallStatus: 'STEP_UP_REQUIRED' }],
      [402, 'PAYMENT_REQUIRED', { overallStatus: 'PAYMENT_FAILED' }],
      [403, 'SCREENING_USER_BLOCKED', blocked('SANCTIONS_MATCH')],
      [403, 'SCREENING_USER_BLOCKED', blocked('TOO_MANY_ATTEMPTS', '2999-01-01T00:00:00.000Z')],
      [403, 'REPORT_ACCESS_DENIED', { userType: 'AGENT' }],
      [409, 'ACCOUNT_NOT_LIVE', { environment: 'live' }],
      [422, 'SCREENING_IDENTITY_NOT_FOUND', blocked('IDENTITY_NOT_FOUND')],
      [429, 'SCREENING_TOO_MANY_ATTEMPTS', blocked('TOO_MANY_ATTEMPTS', '2026-01-01T00:00:00.000Z')],
    ])('%i %s when the session has %j, for reading and for sharing', async (status, code, facts) => {
      const sessionId = harness.session(owner, facts);
      const headers = await platform(owner, { env: facts.environment ?? 'test' });
      expect(await refused(await get(`/reports/${sessionId}`, headers))).toEqual([status, code]);
      expect(await refused(await post(`/reports/${sessionId}/consent-to-share`, headers))).toEqual([status, code]);
      expect(harness.bureau.asked).toEqual([]);
    });

    it('410 SCREENING_REPORT_EXPIRED after 30 days', async () => {
      const sessionId = harness.session(owner);
      expect((await get(`/reports/${sessionId}`, await platform(owner))).status).toBe(200);
      harness.clock.pass(30 * 86_400);
      expect(await refused(await get(`/reports/${sessionId}`, await platform(owner)))).toEqual([
        410,
        'SCREENING_REPORT_EXPIRED',
      ]);
    });

    it('402 PAYMENT_REQUIRED with two different messages', async () => {
      const broke = await harness.account(0);
      const replies = await Promise.all([
        get(`/reports/${harness.session(broke)}`, await platform(broke)),
        get(`/reports/${harness.session(owner, { overallStatus: 'PAYMENT_PENDING' })}`, await platform(owner)),
      ]);
      const errors = await Promise.all(replies.map(async (reply) => ((await reply.json()) as any).error));
      expect(replies.map(({ status }) => status)).toEqual([402, 402]);
      expect(errors.map(({ code }) => code)).toEqual(['PAYMENT_REQUIRED', 'PAYMENT_REQUIRED']);
      expect(errors[0].message).not.toBe(errors[1].message);
    });
  });

  describe('GET /v1/reports/{session_id}', () => {
    it("200 JSON and HTML for the account's own session, 404 NOT_FOUND for any other session, 401 without a key", async () => {
      const sessionId = harness.session(owner);
      const key = { 'x-secret-key': `sk_test_${owner}` };
      expect(await (await get(`/v1/reports/${sessionId}`, key)).json()).toMatchObject({ sessionId, report: REPORT });
      expect((await get(`/v1/reports/${sessionId}`, { ...key, accept: 'text/html' })).headers.get('content-type')).toBe(
        'text/html; charset=utf-8',
      );
      for (const id of [harness.session(await harness.account()), newId(), 'x'])
        expect(await refused(await get(`/v1/reports/${id}`, key))).toEqual([404, 'NOT_FOUND']);
      expect(await refused(await get(`/v1/reports/${sessionId}`, {}))).toEqual([401, 'AUTH_UNAUTHORIZED']);
    });
  });

  describe('sharing', () => {
    it('200 with exactly the documented fields, with and without a body', async () => {
      const [sessionId, recipientAccountId] = [harness.session(owner), await harness.childOf(owner)];
      const headers = await platform(owner);
      const shared = await post(`/reports/${sessionId}/consent-to-share`, headers, { recipientAccountId });
      expect([shared.status, await shared.json()]).toEqual([
        200,
        {
          reportId: expect.any(String),
          sessionId,
          recipientAccountId,
          status: 'SHARED',
          sharedAt: expect.any(String),
          expiresAt: expect.any(String),
        },
      ]);
      expect((await get(`/reports/${sessionId}`, await platform(recipientAccountId))).status).toBe(200);
      const revoked = await post(`/reports/${sessionId}/revoke-sharing`, headers, { recipientAccountId, more: 1 });
      expect([revoked.status, await revoked.json()]).toEqual([
        200,
        {
          reportId: expect.any(String),
          sessionId,
          recipientAccountId,
          status: 'REVOKED',
          revokedAt: expect.any(String),
        },
      ]);
      expect(await refused(await get(`/reports/${sessionId}`, await platform(recipientAccountId)))).toEqual([
        403,
        'REPORT_SHARING_REVOKED',
      ]);
      expect(
        await refused(await post(`/reports/${sessionId}/revoke-sharing`, headers, { recipientAccountId })),
      ).toEqual([409, 'REPORT_SHARING_ALREADY_REVOKED']);
      for (const body of [undefined, null, {}, { recipientAccountId: null }]) {
        expect(await (await post(`/reports/${sessionId}/consent-to-share`, headers, body)).json()).toMatchObject({
          recipientAccountId: owner,
        });
      }
    });

    it('200 when sharing with all accounts is revoked while the lists are empty; 503 while the lists are behind the log', async () => {
      const [sessionId, headers] = [harness.session(owner), await platform(owner)];
      const recipients = [owner, await harness.childOf(owner)].sort();
      for (const recipientAccountId of recipients)
        await post(`/reports/${sessionId}/consent-to-share`, headers, { recipientAccountId });
      lists.areBehind = true;
      const inVain = await post(`/reports/${sessionId}/revoke-sharing`, headers);
      lists.areBehind = false;
      expect(await refused(inVain)).toEqual([503, 'SERVICE_UNAVAILABLE']);
      const { recipientAccountIds } = (await (await post(`/reports/${sessionId}/revoke-sharing`, headers)).json()) as {
        recipientAccountIds: string[];
      };
      expect(recipientAccountIds.sort()).toEqual(recipients);
      expect(await refused(await post(`/reports/${sessionId}/revoke-sharing`, headers))).toEqual([
        409,
        'REPORT_SHARING_ALREADY_REVOKED',
      ]);
    });

    it("200 with the recipient of the token's grant", async () => {
      const [grantId, recipientAccountId] = [newId(), await harness.account()];
      harness.grants.known.set(grantId, {
        grantId,
        accountId: owner,
        environment: 'test',
        recipientAccountId,
        userType: null,
        endUserType: null,
        purpose: null,
        applicationFeeCents: null,
        externalIdHash: null,
      });
      const reply = await post(
        `/reports/${harness.session(owner)}/consent-to-share`,
        await platform(owner, { grant: grantId }),
      );
      expect(await reply.json()).toMatchObject({ recipientAccountId });
    });

    it.each([
      [{ recipientAccountId: 7 }],
      [{ recipientAccountId: 'nobody' }],
      [{ recipientAccountId: newId() }],
      [[]],
      ['x'],
    ])('400 VALIDATION_ERROR for the body %j', async (body) => {
      expect(
        await refused(await post(`/reports/${harness.session(owner)}/consent-to-share`, await platform(owner), body)),
      ).toEqual([400, 'VALIDATION_ERROR']);
    });
  });

  describe('POST /reports/{id}/pdf', () => {
    const print = async (sessionId: string, body: unknown, accountId = owner) =>
      post(`/reports/${sessionId}/pdf`, await platform(accountId), body);

    it('200 with a link that needs no token; no report is pulled or billed', async () => {
      const sessionId = harness.session(owner);
      const reply = await print(sessionId, { html: '<h1>Report</h1>', filename: '../Zoë "1"\r\n.pdf' });
      const { url, expiresAt } = (await reply.json()) as { url: string; expiresAt: string };
      expect([reply.status, expiresAt]).toEqual([200, new Date(harness.clock.time + 300_000).toISOString()]);
      expect(url).toMatch(
        /^https:\/\/service\.example\.test\/reports\/pdf\/[0-9a-f-]{36}\?expires=\d+&signature=[\w-]+$/,
      );
      const fetched = await get(url.replace('https://service.example.test', ''), {});
      expect([fetched.status, Buffer.from(await fetched.arrayBuffer())]).toEqual([200, PDF]);
      expect(Object.fromEntries(fetched.headers)).toMatchObject({
        'content-type': 'application/pdf',
        'content-disposition': 'attachment; filename="Zoe _1.pdf"',
        'cache-control': 'no-store',
      });
      expect([renderer.pages, files.ttls.at(-1), harness.bureau.asked]).toEqual([['<h1>Report</h1>'], 300_000, []]);
    });

    describe('with and without the mark of a served page', () => {
      const served = async (path: string, headers: Record<string, string>): Promise<string> =>
        (await get(path, { ...headers, accept: 'text/html' })).text();

      it('200 for the served page in each language, and for the page of the server API', async () => {
        const sessionId = harness.session(owner);
        const pages = [
          await served(`/reports/${sessionId}`, await platform(owner)),
          await served(`/reports/${sessionId}?language=es`, await platform(owner)),
          await served(`/v1/reports/${sessionId}`, { 'x-secret-key': `sk_test_${owner}` }),
          await served(`/v1/reports/${sessionId}?language=es`, { 'x-secret-key': `sk_test_${owner}` }),
        ];
        expect(pages.map((html) => /<html lang="(..)"/.exec(html)?.[1])).toEqual(['en', 'es', 'en', 'es']);
        for (const html of pages) expect((await print(sessionId, { html })).status).toBe(200);
        expect([renderer.pages, renderer.sources]).toEqual([pages, pages.map(() => 'served')]);
      });

      it('200 for any other page, which is printed as a foreign page', async () => {
        const [sessionId, other] = [harness.session(owner), harness.session(owner)];
        const page = await served(`/reports/${sessionId}`, await platform(owner));
        const mark = page.slice(page.lastIndexOf('<!--'));
        const foreign = [
          '<p>hello',
          page.replace('</main>', '<p>more</main>'),
          page.replace(mark, ''),
          `${page}\n`,
          `<p>more${page}`,
          `<p>hello${mark}`,
          mark,
          await served(`/reports/${other}`, await platform(owner)),
        ];
        for (const html of foreign) expect((await print(sessionId, { html })).status).toBe(200);
        expect([renderer.pages, renderer.sources]).toEqual([foreign, foreign.map(() => 'foreign')]);
      });

      it('400 VALIDATION_ERROR for a foreign page when only served pages may be printed; the refusals do not count against the limit', async () => {
        const restrained = jest.replaceProperty(harness.policy.limits, 'servedPagesOnly', true);
        try {
          const sessionId = harness.session(owner);
          const page = await served(`/reports/${sessionId}`, await platform(owner));
          for (let count = 0; count < 11; count++) {
            const { error } = (await (await print(sessionId, { html: `${page} ` })).json()) as any;
            expect(error).toMatchObject({ code: 'VALIDATION_ERROR', field: 'html', recoverable: true });
          }
          expect(await refused(await print(newId(), { html: page }))).toEqual([404, 'SCREENING_NOT_FOUND']);
          expect((await print(sessionId, { html: page })).status).toBe(200);
          expect(renderer.sources).toEqual(['served']);
        } finally {
          restrained.restore();
        }
      });
    });

    it('records a refused print with its reader and code', async () => {
      const sessionId = harness.session(owner);
      const stranger = await harness.account();
      expect(await refused(await post(`/reports/${sessionId}/pdf`, await platform(stranger), { html: 'x' }))).toEqual([
        403,
        'REPORT_SHARING_NOT_FOUND',
      ]);
      const looks = await harness.store.readStream(`report_looks-${sessionId}`);
      expect(looks.map(({ type, data }) => ({ type, data }))).toMatchObject([
        {
          type: 'ReportReadRefused',
          data: { sessionId, viewerAccountId: stranger, format: 'pdf', code: 'sharing.not_found' },
        },
      ]);
    });

    it('403 REPORT_ACCESS_DENIED for a link that is expired, forged, or of another or a deleted file', async () => {
      const { url } = (await (await print(harness.session(owner), { html: 'x' })).json()) as { url: string };
      const { url: other } = (await (await print(harness.session(owner), { html: 'y' })).json()) as { url: string };
      const path = url.replace('https://service.example.test', '');
      const good = new URL(path, base);
      const changed = (change: (link: URL) => void): string => {
        const link = new URL(good);
        change(link);
        return link.pathname + link.search;
      };
      const bad = [
        changed((link) => link.searchParams.set('expires', String(Number(link.searchParams.get('expires')) + 1))),
        changed((link) => link.searchParams.set('signature', 'A'.repeat(link.searchParams.get('signature')!.length))),
        changed((link) => link.searchParams.delete('signature')),
        changed((link) => link.searchParams.append('expires', '1')),
        changed((link) => (link.pathname = new URL(other).pathname)),
        changed((link) => (link.pathname = '/reports/pdf/x')),
        '/reports/pdf/' + newId(),
      ];
      for (const link of bad)
        expect([link, await refused(await get(link, {}))]).toEqual([link, [403, 'REPORT_ACCESS_DENIED']]);
      expect((await get(path, {})).status).toBe(200);
      files.kept.clear();
      expect(await refused(await get(path, {}))).toEqual([403, 'REPORT_ACCESS_DENIED']);
      const { url: late } = (await (await print(harness.session(owner), { html: 'x' })).json()) as { url: string };
      harness.clock.pass(300);
      expect(await refused(await get(late.replace('https://service.example.test', ''), {}))).toEqual([
        403,
        'REPORT_ACCESS_DENIED',
      ]);
    });

    it('200 for a page up to 2 MB in any escaping; 413 PAYLOAD_TOO_LARGE over 2 MB', async () => {
      const sessionId = harness.session(owner);
      expect((await print(sessionId, { html: 'x'.repeat(HTML_LIMIT) })).status).toBe(200);
      expect((await print(sessionId, { html: '"\n'.repeat(240_000) + 'x'.repeat(HTML_LIMIT - 480_000) })).status).toBe(
        200,
      );
      expect(await refused(await print(sessionId, { html: 'x'.repeat(HTML_LIMIT + 1) }))).toEqual([
        413,
        'PAYLOAD_TOO_LARGE',
      ]);
      expect(await refused(await print(sessionId, { html: 'é'.repeat(HTML_LIMIT / 2 + 1) }))).toEqual([
        413,
        'PAYLOAD_TOO_LARGE',
      ]);
      expect(await refused(await print(sessionId, { html: 'x'.repeat(3_100_000) }))).toEqual([
        413,
        'PAYLOAD_TOO_LARGE',
      ]);
      expect(renderer.pages).toHaveLength(2);
    });

    it('413 PAYLOAD_TOO_LARGE over 32 kB on any other route', async () => {
      const reply = await post(`/reports/${harness.session(owner)}/consent-to-share`, await platform(owner), {
        more: 'x'.repeat(32_000),
      });
      expect(await refused(reply)).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    });

    it.each([[{}], [{ html: '' }], [{ html: 7 }], [{ html: 'x', filename: 7 }], [undefined]])(
      '400 VALIDATION_ERROR for %j',
      async (body) => {
        expect(await refused(await print(harness.session(owner), body))).toEqual([400, 'VALIDATION_ERROR']);
      },
    );

    it('503 when the browser cannot print, and 504 when printing takes too long', async () => {
      renderer.answer = { kind: 'unavailable' };
      expect(await refused(await print(harness.session(owner), { html: 'x' }))).toEqual([503, 'SERVICE_UNAVAILABLE']);
      renderer.answer = { kind: 'no-browser' };
      expect(await (await print(harness.session(owner), { html: 'x' })).json()).toMatchObject({
        error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('sandbox') },
      });
      renderer.answer = { kind: 'timed-out' };
      expect(await refused(await print(harness.session(owner), { html: 'x' }))).toEqual([504, 'UPSTREAM_TIMEOUT']);
    });

    it('200 when the file is stored although the caller missed the end of the call; 504 when no file is stored', async () => {
      calls.deaf = true;
      expect((await print(harness.session(owner), { html: 'x' })).status).toBe(200);
      renderer.answer = { kind: 'timed-out' };
      expect(await refused(await print(harness.session(owner), { html: 'x' }))).toEqual([504, 'UPSTREAM_TIMEOUT']);
      calls.deaf = false;
    });

    it('429 NETWORK_RATE_LIMITED for a second page of the account while one is printed, but not for other accounts', async () => {
      const stranger = await harness.account();
      let printed: () => void = () => undefined;
      renderer.busy = new Promise((resolve) => (printed = resolve));
      const first = print(harness.session(owner), { html: 'heavy' });
      while (renderer.pages.length < 1) await new Promise(setImmediate);
      const second = await print(harness.session(owner), { html: 'x' });
      expect([second.headers.get('retry-after'), await refused(second)]).toEqual(['1', [429, 'NETWORK_RATE_LIMITED']]);
      const other = print(harness.session(stranger), { html: 'small' }, stranger);
      while (renderer.pages.length < 2) await new Promise(setImmediate);
      printed();
      expect([(await first).status, (await other).status, renderer.pages]).toEqual([200, 200, ['heavy', 'small']]);
      expect((await print(harness.session(owner), { html: 'x' })).status).toBe(200);
    });

    it('429 NETWORK_RATE_LIMITED after 10 pages of the account in a minute; failures count too', async () => {
      const sessionId = harness.session(owner);
      renderer.answer = { kind: 'timed-out' };
      for (let count = 0; count < 10; count++) expect((await print(sessionId, { html: 'x' })).status).toBe(504);
      const more = await print(sessionId, { html: 'x' });
      expect([more.headers.get('retry-after'), await refused(more)]).toEqual(['60', [429, 'NETWORK_RATE_LIMITED']]);
      expect(renderer.pages).toHaveLength(10);
    });

    it('no 429 for a session grant when callers without a grant have used up the pages of the account', async () => {
      const [sessionId, grantId] = [harness.session(owner), newId()];
      renderer.answer = { kind: 'timed-out' };
      for (let count = 0; count < 10; count++) expect((await print(sessionId, { html: 'x' })).status).toBe(504);
      expect((await print(sessionId, { html: 'x' })).status).toBe(429);
      harness.grants.known.set(grantId, {
        grantId,
        accountId: owner,
        environment: 'test',
        parentAccountId: null,
        recipientAccountId: null,
      } as never);
      const granted = await platform(owner, { grant: grantId });
      expect((await post(`/reports/${harness.session(owner)}/pdf`, granted, { html: 'x' })).status).toBe(504);
    });

    it('404, 403, 400, 402 or 410 for a caller who may not see the report', async () => {
      const stranger = await harness.childOf(owner);
      const sessionId = harness.session(owner);
      expect(await refused(await print(newId(), { html: 'x' }))).toEqual([404, 'SCREENING_NOT_FOUND']);
      expect(await refused(await print(sessionId, { html: 'x' }, stranger))).toEqual([403, 'REPORT_SHARING_NOT_FOUND']);
      expect(await refused(await print(harness.session(owner, { status: 'OTP_PENDING' }), { html: 'x' }))).toEqual([
        400,
        'SCREENING_SESSION_NOT_COMPLETED',
      ]);
      expect(
        await refused(await print(harness.session(owner, { overallStatus: 'PAYMENT_PENDING' }), { html: 'x' })),
      ).toEqual([402, 'PAYMENT_REQUIRED']);
      await post(`/reports/${sessionId}/consent-to-share`, await platform(owner), { recipientAccountId: stranger });
      harness.clock.pass(31 * 86_400);
      expect(await refused(await print(sessionId, { html: 'x' }))).toEqual([410, 'SCREENING_REPORT_EXPIRED']);
      expect((await print(sessionId, { html: 'x' }, stranger)).status).toBe(200);
      expect(renderer.pages).toHaveLength(1);
    });
  });
});

describe('PDFs on a host of their own', () => {
  let harness: Harness;
  let surfaces: ReportSurfaces;
  beforeAll(async () => {
    harness = await Harness.build();
    surfaces = await openSurfaces(harness, 'https://PDF.example.test.');
  });
  afterAll(async () => {
    await surfaces.app.close();
    await harness.close();
  });
  /**
   * The error code of the reply, or its status. The test sets the Host header itself, because `fetch` does not allow
   * it.
   */
  const codeOf = async (path: string, host: string, method = 'GET'): Promise<unknown> => {
    const headers = { host, origin: ORIGIN, 'access-control-request-method': 'GET' };
    const [reply] = (await once(request(surfaces.base + path, { method, headers }).end(), 'response')) as [
      IncomingMessage,
    ];
    const text = Buffer.concat(await reply.toArray()).toString();
    return text === '' ? reply.statusCode : JSON.parse(text).error.code;
  };

  it.each([
    'pdf.example.test',
    'PDF.Example.Test',
    'pdf.example.test.',
    'pdf.example.test:443',
    'pdf.example.test.:3000',
  ])('404 NOT_FOUND at %s for any other path, in all spellings of the host', async (host) => {
    for (const path of [`/reports/pdf/${newId()}`, `/reports/%70df/${newId()}?expires=1`])
      expect(await codeOf(path, host)).toBe('REPORT_ACCESS_DENIED');
    for (const path of [
      `/reports/${newId()}`,
      `/reports/${newId()}/sharing`,
      '/auth/token',
      '/v1/reports/x',
      '/',
      '/x',
    ])
      for (const method of ['GET', 'POST', 'OPTIONS'])
        expect([path, await codeOf(path, host, method)]).toEqual([path, 'NOT_FOUND']);
  });

  it.each([
    'service.example.test',
    'service.example.test:443',
    'a.pdf.example.test',
    'pdf.example.test.evil',
    '127.0.0.1',
    '',
  ])('404 NOT_FOUND for a PDF at the host %j, which serves all other paths', async (host) => {
    for (const path of [`/reports/pdf/${newId()}`, `/reports/%70df/${newId()}?expires=1`])
      expect(await codeOf(path, host)).toBe('NOT_FOUND');
    expect(await codeOf(`/reports/${newId()}`, host)).toBe('AUTH_UNAUTHORIZED');
  });
});
