// One person's way through the embedded component: details, a code, the report, sharing it, and the PDF. Other suites
// of this folder cover the other screens.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ANA, DetailsForm } from '../../support/details-form.js';
import { Embedding, type HostPage } from '../../support/embedding.js';
import { aPerson, type PlatformCaller } from '../../support/service.js';

let embedding: Embedding;
let nopay: PlatformCaller;
let host: HostPage;

beforeAll(async () => {
  embedding = await Embedding.shared();
  nopay = await embedding.service.signIn('nopay');
});
afterAll(() => embedding?.stop());
afterEach(() => host?.close());

const button = (name: string) => host.frame.getByRole('button', { name, exact: true });

describe('a person in the embedded component', () => {
  it('types the details and the code, and is verified', async () => {
    host = await embedding.open('/', { reducedMotion: 'no-preference' });
    await host.mount({ account: 'nopay' });
    await new DetailsForm(host.frame).fill({ ...ANA, lastName: 'Otptest', ssn: String(aPerson()['ssn']) });
    await button('Continue').click();
    await host.frame.getByText('Sent to (•••) •••-0134').waitFor();
    await host.frame.getByLabel('Code').fill('123456');
    expect(await host.hears('onVerificationSuccess')).toMatchObject({ sessionId: expect.any(String) });
  });

  it('reads the report and shares it', async () => {
    const { body } = await nopay.submit();
    host = await embedding.open('/', { reducedMotion: 'no-preference' });
    await host.mount({ account: 'nopay', options: { screeningId: body.id } });
    await host.frame
      .frameLocator('iframe.report-page')
      .getByRole('heading', { name: 'Tenant screening report' })
      .waitFor();
    await host.frame.getByRole('heading', { name: /^Share with .+\?$/ }).waitFor();
    await button('Share my report').click();
    expect(await host.hears('onReportShared')).toMatchObject({ sessionId: body.id });
    expect((await nopay.get(`/reports/${body.id}/sharing`)).body.status).toBe('SHARED');
  });
});

describe('POST /reports/{id}/pdf', () => {
  it('answers 200 with a link to a PDF that needs no token, or 503 when no browser can start in its sandbox', async () => {
    const { service } = embedding;
    const { id } = (await nopay.submit()).body;
    const reply = await nopay.post(`/reports/${id}/pdf`, {
      html: '<h1>Report</h1><script>document.body.innerHTML = ""</script>',
      filename: 'Ada.pdf',
    });
    // As root or in a container, a browser cannot use its own sandbox.
    if (reply.status === 503) {
      expect(reply.body.error.message).toContain('no browser starts in its sandbox');
      return;
    }
    expect([reply.status, reply.body]).toEqual([
      200,
      { url: expect.any(String), expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) },
    ]);
    const path = reply.body.url.replace(service.baseUrl, '');
    const file = await service.request('GET', path);
    expect([
      file.status,
      file.headers.get('content-type'),
      file.headers.get('content-disposition'),
      file.headers.get('cache-control'),
    ]).toEqual([200, 'application/pdf', 'attachment; filename="Ada.pdf"', 'no-store']);
    expect(file.text.startsWith('%PDF-')).toBe(true);
    const forged = await service.request('GET', path.replace(/expires=(\d)/, 'expires=9$1'));
    expect([forged.status, forged.body.error.code]).toEqual([403, 'REPORT_ACCESS_DENIED']);
  });
});
