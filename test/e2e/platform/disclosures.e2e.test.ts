// The person sees who has read the report, when and for which purpose, and stops a share (docs/contract/platform.md#disclosures).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Credentials, type PlatformCaller, type Reply, Service } from '../../support/service.js';

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const UNKNOWN = '01890000-0000-7000-8000-000000000000';

let service: Service;
let accounts: Credentials['accounts'];
let page: PlatformCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
  // The parent of `child` is `demo`.
  await service.ops('accounts', 'set', accounts.child.accountId, '--payer', 'account');
  page = await service.signIn('child');
});
afterAll(() => service?.stop());

const disclosed = (caller: PlatformCaller, id: string, query = ''): Promise<Reply> =>
  caller.get(`/screening/${id}/disclosures${query}`);
const onServer = (account: keyof Credentials['accounts'], path: string): Promise<Reply> =>
  service.request('GET', path, { headers: { 'x-secret-key': accounts[account].secretKey } });

describe('GET /screening/{id}/disclosures', () => {
  it('200: lists each read with its reader, time and purpose, the shares, the sources and the rights', async () => {
    const { id } = (await page.submit({ purpose: 'LEASE_RENEWAL', endUserType: 'PROPERTY_MANAGEMENT' })).body;
    expect((await disclosed(page, id)).body).toMatchObject({ sessionId: id, reads: [], shares: [] });
    await page.get(`/reports/${id}`, { accept: 'text/html' });
    await onServer('demo', `/v1/reports/${id}`);
    const { demo, child } = accounts;
    const shared = await page.post(`/reports/${id}/consent-to-share`, { recipientAccountId: demo.accountId });
    expect(shared.status).toBe(200);
    await (await service.signIn('demo')).get(`/reports/${id}`);

    const reply = await disclosed(page, id);
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const named = { at: expect.stringMatching(TIME), purpose: 'LEASE_RENEWAL', endUserType: 'PROPERTY_MANAGEMENT' };
    const of = (account: { readonly accountId: string }): object => ({
      accountId: account.accountId,
      accountName: expect.any(String),
    });
    expect(reply.body).toEqual({
      sessionId: id,
      reads: [
        { ...named, ...of(demo), reader: 'PAGE', format: 'json' },
        { ...named, ...of(demo), reader: 'SERVER', format: 'json' },
        { ...named, ...of(child), reader: 'PAGE', format: 'html' },
      ],
      shares: [
        {
          recipientAccountId: demo.accountId,
          recipientName: 'Elm Street Homes',
          status: 'SHARED',
          purpose: 'LEASE_RENEWAL',
          sharedAt: shared.body.sharedAt,
          expiresAt: shared.body.expiresAt,
          stop: {
            method: 'POST',
            path: `/reports/${id}/revoke-sharing`,
            body: { recipientAccountId: demo.accountId },
          },
        },
      ],
      sources: [
        { kind: 'IDENTITY', vendor: 'idv', at: expect.stringMatching(TIME) },
        { kind: 'CREDIT_REPORT', vendor: 'idv', at: expect.stringMatching(TIME) },
      ],
      rights: expect.objectContaining({
        language: 'en',
        title: 'Your rights',
        officialSummaryUrl: expect.stringContaining('consumerfinance.gov'),
      }),
    });
    expect((await disclosed(page, id, '?language=es')).body.rights).toMatchObject({ title: 'Sus derechos' });

    const [{ stop }] = reply.body.shares;
    expect((await page.post(stop.path, stop.body)).status).toBe(200);
    expect((await disclosed(page, id)).body.shares).toMatchObject([
      { status: 'REVOKED', revokedAt: expect.stringMatching(TIME), stop: null },
    ]);
    const { body } = await onServer('demo', `/v1/screenings/${id}/disclosures`);
    expect(body).toMatchObject({ session_id: id, shares: [{ status: 'REVOKED' }], sources: [{}, {}] });
    expect(body.reads.map(({ reader }: { reader: string }) => reader)).toEqual(['PAGE', 'SERVER', 'PAGE']);
  });

  it('404: is hidden from other accounts and other grants, as an unknown session is', async () => {
    const granted = await service.signInUnderGrant('nopay');
    const { id } = (await granted.submit()).body;
    expect((await disclosed(granted, id)).status).toBe(200);
    expect((await onServer('nopay', `/v1/screenings/${id}/disclosures`)).status).toBe(200);
    const refusals = [
      await disclosed(await service.signInUnderGrant('nopay'), id),
      await disclosed(await service.signIn('nopay'), id),
      await disclosed(await service.signIn('unrelated'), id),
      await disclosed(granted, UNKNOWN),
      await disclosed(granted, 'no-id'),
      await onServer('unrelated', `/v1/screenings/${id}/disclosures`),
    ];
    expect(refusals.map(({ status, body }) => [status, body.error.code])).toEqual(
      refusals.map(() => [404, 'NOT_FOUND']),
    );
    expect((await service.request('GET', `/screening/${id}/disclosures`)).status).toBe(401);
  });
});
