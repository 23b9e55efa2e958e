// The report in the embedded component: shown, printed, downloaded, shared and revoked. Other tests show the screens without a report.
import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { ONE_PROCESS } from '../../support/browsers.js';
import { CertificateAuthority } from '../../support/certificates.js';
import { DetailsForm, type Language } from '../../support/details-form.js';
import { Embedding, type HostPage, type MountWish } from '../../support/embedding.js';
import { CARD_LABELS } from '../../support/embedded-walk.js';
import { soon, until } from '../../support/eventually.js';
import { EndpointOwner, trustFile } from '../../support/endpoint-owner.js';
import { HttpsReceiver, type ReceivedRequest } from '../../support/https-receiver.js';
import { paymentStream, Processor, shownEvents } from '../../support/processor.js';
import { freePort } from '../../support/redis.js';
import { aPerson, type Credentials, type PlatformCaller, WITH_BROWSER } from '../../support/service.js';
import { TEXTS as DETAILS } from '../../../web/frame/steps/details/texts.js';

const DAY_MS = 86_400_000;

let embedding: Embedding;
let nopay: PlatformCaller;
let host: HostPage;

beforeAll(async () => {
  embedding = await Embedding.start(WITH_BROWSER, { isolation: ONE_PROCESS });
  nopay = await embedding.service.signIn('nopay');
});
afterAll(() => embedding?.stop());
afterEach(async () => host?.close());

async function verified(person: object = {}, caller = nopay): Promise<string> {
  const { body } = await caller.submit(person);
  expect(body.status).toBe('VERIFIED');
  return body.id;
}

async function paidFor(account: keyof Credentials['accounts'], person: object): Promise<string> {
  const caller = await embedding.service.signIn(account);
  const screeningId = await verified(person, caller);
  const { body } = await caller.post('/payments/create-intent', { amount: 3_500, screeningId });
  await new Processor(embedding.service.sandboxUrl).confirm(body.client_secret, 'pm_card_visa');
  expect((await caller.post(`/payments/${body.transaction_id}/confirm`)).body.status).toBe('SUCCEEDED');
  return screeningId;
}

async function payInComponent(): Promise<void> {
  const pay = host.frame.getByRole('button', { name: 'Pay $35.00' });
  await pay.waitFor();
  const fields = host.frame.frameLocator('iframe[src*="payment-element"]');
  for (const [index, value] of ['4242424242424242', '12 / 39', '123', '78701'].entries())
    await fields.getByLabel(CARD_LABELS.en[index] as string).fill(value);
  await host.press(pay);
}

async function atReport(screeningId: string, wish: MountWish = {}): Promise<void> {
  host = await embedding.open();
  await host.mount({ account: 'nopay', ...wish, options: { screeningId, ...wish.options } });
}

const button = (name: string): Locator => host.frame.getByRole('button', { name, exact: true });
const heading = (name: string): Locator => host.frame.getByRole('heading', { name, exact: true });
const page = (): Locator => host.frame.locator('iframe.report-page');
/** Replaces the print dialog of the frame, because a test cannot see the dialog. */
const printsIntoAttribute = (): Promise<void> =>
  page().evaluate((frame: any) => {
    frame.contentWindow.print = () => frame.setAttribute('data-printed', 'yes');
  });
const printed = (): Locator => host.frame.locator('iframe[data-printed=yes]');
const accountOf = (name: keyof Credentials['accounts']): string => embedding.credentials.accounts[name].accountId;
const names = async (): Promise<string[]> =>
  (await host.told()).map(([name]) => name).filter((name) => !['onResize', 'onChange'].includes(name));

describe('a consumer whose account pays', () => {
  it('sees the report in full height without paying, and the page receives the score once', async () => {
    const id = await verified();
    await atReport(id);
    await host.frame
      .frameLocator('iframe.report-page')
      .getByRole('heading', { name: 'Tenant screening report' })
      .waitFor();
    const { body } = await nopay.get(`/reports/${id}`);
    expect(await host.hears('onScreeningSuccess')).toEqual({
      sessionId: id,
      overallStatus: 'COMPLETED',
      score: body.score.value,
    });
    await heading('Share with Demo account nopay?').waitFor();
    await soon(async () =>
      expect(await names()).toEqual([
        'onReady',
        'onVerificationSuccess',
        'onStepStart',
        'onScreeningSuccess',
        'onStepComplete',
        'onStepStart',
      ]),
    );
    await until('the frame of the report fits', () =>
      page().evaluate(
        // The frame must have no scroll bar (browsers without windows show none) and no empty space below the report.
        ({ contentDocument, clientHeight }: any) => contentDocument?.documentElement.scrollHeight === clientHeight,
      ),
    );
    // The browser runs no script in the frame of the report.
    expect(await page().getAttribute('sandbox')).toBe('allow-same-origin allow-modals');
    const calls: any = await (await fetch(`${embedding.service.sandboxUrl}/control/calls`)).json();
    expect(calls.operations.report.billed).toBe(1);
    expect(host.console.filter((line) => /Content Security Policy|TrustedHTML/.test(line))).toEqual([]);
  });

  it('fits on the screen together with the report at a width of 320 pixels', async () => {
    host = await embedding.open('/', { viewport: { width: 320, height: 700 } });
    await host.mount({ account: 'nopay', options: { screeningId: await verified() }, init: { locale: 'es' } });
    await heading('¿Compartir con Demo account nopay?').waitFor();
    await until('the frame and the report in it fit', () =>
      page().evaluate(
        ({ ownerDocument: { documentElement: frame }, contentDocument, clientWidth }: any) =>
          frame.scrollWidth <= frame.clientWidth && contentDocument?.documentElement.scrollWidth <= clientWidth,
      ),
    );
  });

  it('prints the report, and downloads it as a PDF', async () => {
    await atReport(await verified());
    await heading('Share with Demo account nopay?').waitFor();
    await printsIntoAttribute();
    await host.press(button('Print'));
    await printed().waitFor();
    await host.frame.locator('.told').getByText('The report was sent to the print dialog.').waitFor();

    const download = host.page.waitForEvent('download');
    await host.press(button('Download PDF'));
    expect((await download).suggestedFilename()).toMatch(/^screening-report-[a-z-]+-\d{4}-\d{2}-\d{2}\.pdf$/);
    await host.frame.locator('.told').getByText('The PDF was downloaded.').waitFor();
    const chunks: Buffer[] = [];
    for await (const chunk of await (await download).createReadStream()) chunks.push(chunk as Buffer);
    const pdf = Buffer.concat(chunks).toString('latin1');
    expect([pdf.slice(0, 5), /\/Title \((.*)\)/.exec(pdf)?.[1]]).toEqual([
      '%PDF-',
      expect.stringMatching(/^Tenant screening report, .+, \w+ \d+, \d{4}$/),
    ]);
  });

  it('downloads the PDF from a separate host, which prints only pages that the service served', async () => {
    const port = String(await freePort());
    const moved = await embedding.service.startBeside({
      ROLE: 'api',
      PORT: port,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      PDF_PUBLIC_URL: `http://localhost:${port}`,
      PDF_SERVED_PAGES_ONLY: 'true',
    });
    try {
      await atReport(await verified(), { init: { baseUrl: moved.baseUrl } });
      const download = host.page.waitForEvent('download');
      await host.press(button('Download PDF'));
      await download;
      const { origin, pathname } = new URL(host.requests.find(({ url }) => url.includes('/pdf/'))?.url ?? '');
      expect(origin).toBe(`http://localhost:${port}`);
      expect((await fetch(`http://127.0.0.1:${port}${pathname}`)).status).toBe(404);
      expect((await fetch(`${origin}/health`)).status).toBe(404);
    } finally {
      await host.close();
      await moved.program.end('SIGTERM');
    }
  });

  it('sees, prints and downloads the report in Spanish in a Spanish journey', async () => {
    await atReport(await verified(), { init: { locale: 'es-MX' } });
    const report = host.frame.frameLocator('iframe.report-page');
    await report.getByRole('heading', { name: 'Informe de evaluación de inquilino', exact: true }).waitFor();
    expect(await report.locator('html').getAttribute('lang')).toBe('es');
    await report.getByRole('heading', { name: 'Sus derechos', exact: true }).waitFor();
    const download = host.page.waitForEvent('download');
    await host.press(button('Descargar PDF'));
    await download;
    const printed = host.requests.find(({ url }) => url.endsWith('/pdf'));
    expect(JSON.parse(printed?.body ?? '').html).toMatch(/^<!doctype html>\s*<html lang="es" /);
  });

  it('prints and downloads through the handlers of the page, when the page has them', async () => {
    const id = await verified();
    await atReport(id, { handles: ['handlePrintRequested', 'handleDownloadRequested'] });
    await host.press(button('Print'));
    await host.press(button('Download PDF'));
    expect(await host.hears('handlePrintRequested')).toEqual({ sessionId: id });
    expect(await host.hears('handleDownloadRequested')).toEqual({ sessionId: id });
    expect(host.requests.filter(({ url }) => url.endsWith('/pdf'))).toEqual([]);
  });

  it('prints through the page only if the page listens at the moment of the press', async () => {
    const id = await verified();
    await atReport(id);
    await heading('Share with Demo account nopay?').waitFor();
    await printsIntoAttribute();
    await host.page.evaluate(() => {
      const { instance, told } = globalThis as any;
      const name = 'handlePrintRequested';
      (globalThis as any).stop = instance.on(name, (payload: unknown) => told.push([name, payload]));
    });
    await host.press(button('Print'));
    expect(await host.hears('handlePrintRequested')).toEqual({ sessionId: id });
    await host.page.evaluate(() => (globalThis as any).stop());
    expect(await printed().count()).toBe(0);
    await host.press(button('Print'));
    await printed().waitFor();
  });

  it('shares the report and then stops sharing for good, and sees each state after a reload', async () => {
    const id = await verified();
    await atReport(id);
    await host.press(button('Share my report'));
    const shared = { sessionId: id, reportId: expect.any(String), recipientAccountId: accountOf('nopay') };
    expect(await host.hears('onReportShared')).toEqual(shared);
    await heading('Your report is shared').waitFor();
    expect(await host.hears('onStepComplete', 2)).toEqual({ step: 'share' });

    await host.press(button('Done, return to Demo account nopay'));
    expect(await host.hears('onDone')).toEqual({ sessionId: id });

    await host.page.reload();
    await host.mount({ account: 'nopay', view: 'report', options: { screeningId: id } });
    await host.press(button('Stop sharing'));
    await host.press(button('Keep sharing'));
    await host.press(button('Stop sharing'));
    await host.press(button('Stop sharing for good'));
    expect(await host.hears('onReportRevoked')).toEqual(shared);
    expect(await host.hears('onStepComplete', 2)).toEqual({ step: 'share' });
    await heading('You have stopped sharing your report').waitFor();

    await host.page.reload();
    await host.mount({ account: 'nopay', view: 'report', options: { screeningId: id } });
    await heading('You have stopped sharing your report').waitFor();
    expect(await button('Share my report').count()).toBe(0);
  });

  it('may leave the report even if the page has no listener, and still sees the question while the page scrolls', async () => {
    host = await embedding.open('/', { viewport: { width: 800, height: 600 } });
    const { publishableKey } = embedding.credentials.accounts.nopay;
    await host.page.evaluate(
      async ([publishableKey, screeningId]) => {
        const instance = await (globalThis as any).Service.init(publishableKey);
        await instance.mount('screening', { selector: '#place', unitAddress: 'x', screeningId });
      },
      [publishableKey, await verified()] as const,
    );
    await heading('Share with Demo account nopay?').waitFor();
    await until('the report fits', () => page().evaluate(({ clientHeight }: any) => clientHeight > 1_500));
    const { y: top } = (await host.frame.locator('.share').boundingBox())!;
    const scrollTo = (height: number): Promise<void> =>
      host.page.evaluate((height) => (globalThis as any).scrollTo(0, height), height);
    await scrollTo(1_200);
    await until('the question has followed', async () => {
      const box = await host.frame.locator('.share').boundingBox();
      // Positions are rounded to whole pixels.
      return box !== null && box.y > -1 && box.y + box.height <= 600;
    });
    // The buttons of the panel are in view, and a smaller panel would leave a hole.
    await scrollTo(top + 10);
    await host.frame.locator('.share:not(.afloat)').waitFor();
    await host.press(button('Not now'));
    await host.press(button('Done, return to Demo account nopay'));
    await host.frame.locator('.hint').getByText('You can leave this page now.').waitFor();
  });

  it('declines to share, and may still share later', async () => {
    const id = await verified();
    await atReport(id);
    await host.press(button('Not now'));
    expect(await host.hears('onReportShareDeclined')).toEqual({ sessionId: id });
    expect(await host.hears('onStepComplete', 2)).toEqual({ step: 'share' });
    expect((await nopay.get(`/reports/${id}/sharing`)).body.status).toBe('NOT_SHARED');
    await host.press(button('Share my report'));
    await host.hears('onReportShared');
    await soon(async () => expect((await names()).filter((name) => name === 'onStepComplete')).toHaveLength(2));
  });

  it('sees that the sharing was revoked elsewhere in the meantime', async () => {
    const id = await verified();
    await atReport(id);
    await host.press(button('Share my report'));
    await host.press(button('Stop sharing'));
    expect((await nopay.post(`/reports/${id}/revoke-sharing`)).status).toBe(200);
    await host.press(button('Stop sharing for good'));
    await heading('You have stopped sharing your report').waitFor();
    expect(await names()).not.toContain('onReportRevoked');
  });
});

describe('a report that cannot be shown', () => {
  it('is reported as PAYMENT_REQUIRED when the account has no credit, even after the screening is completed', async () => {
    const broke = await embedding.service.signIn('broke');
    const id = await verified({}, broke);
    await atReport(id, { account: 'broke' });
    expect(await host.hears('onError')).toMatchObject({ code: 'PAYMENT_REQUIRED', recoverable: false });
    expect(await host.hears('onScreeningSuccess')).toEqual({ sessionId: id, overallStatus: 'COMPLETED' });
    await host.frame.getByText('it has not been paid for').waitFor();
  });

  it.each<[object, ...string[]]>([
    [{ lastName: 'Frozentest' }, 'FILE_FROZEN', 'Your credit file is frozen', 'Lift it at the credit bureau'],
    [{ middleName: 'Upstream9116' }, 'FILE_BLOCKED', 'Your credit file is blocked', 'Ask the credit bureau to lift'],
    [{ lastName: 'Nohittest' }, 'NO_RECORD', 'has no file of yours', 'no file that matches your details'],
    [{ middleName: 'Upstream9110' }, 'MINOR', 'has you as a minor', 'If you are 18 or older'],
    [{ middleName: 'Upstream9018' }, 'FILE_CONDITION', 'gives no report', 'Ask the credit bureau why'],
  ])(
    'that fails with %j shows the reason, the remedy and the time of the next possible request, and the page is informed',
    async (person, reasonCode, ...texts) => {
      const id = await verified(person);
      await atReport(id);
      for (const text of texts) await host.frame.getByRole('alert').getByText(text).waitFor();
      await host.frame.getByText('You can try again in 10 minutes').waitFor();
      expect(await button('Try again').isDisabled()).toBe(true);
      const support = host.frame.getByRole('link', { name: 'support@example.test' });
      expect(await support.getAttribute('href')).toBe('mailto:support@example.test');
      await host.hears('onScreeningSuccess');
      expect(await host.hears('onReportUnavailable')).toEqual({ sessionId: id, reasonCode });
      expect(await names()).not.toContain('onError');
    },
  );

  it.each([
    ['+1 (202) 555-0143', 'tel:+12025550143'],
    ['https://example.com/help', 'https://example.com/help'],
    ['none', null],
  ])('shows the support contact %s as the link %s', async (contact, href) => {
    const { exitCode } = await embedding.service.ops('accounts', 'set', accountOf('unrelated'), '--support', contact);
    expect(exitCode).toBe(0);
    const caller = await embedding.service.signIn('unrelated');
    await until('the page has the contact', async () => {
      const { body } = await caller.get('/screening/options');
      return body.support === (href === null ? null : contact);
    });
    const id = await paidFor('unrelated', { lastName: 'Frozentest' });
    await atReport(id, { account: 'unrelated' });
    await host.frame.getByText('You will not be charged again.').waitFor();
    const links = host.frame.locator('p:has-text("Questions?")').getByRole('link');
    if (href === null) await host.frame.getByText('Contact the company that asked for the screening.').waitFor();
    else expect(await links.getAttribute('href')).toBe(href);
  });

  it('appears without another payment after the person has paid, lifted the freeze and asked again', async () => {
    const short = await Embedding.start({ ...WITH_BROWSER, REPORT_RETRY_INTERVAL: '2' });
    try {
      const caller = await short.service.signIn('demo');
      const { body } = await caller.submit({ lastName: 'Frozentest', ssn: '666443217' });
      const screeningId: string = body.id;
      host = await short.open();
      await host.mount({ options: { screeningId } });
      await payInComponent();
      await heading('Your report is not available yet').waitFor();
      await host.frame.getByText('You will not be charged again.').waitFor();
      expect(await host.hears('onReportUnavailable')).toEqual({ sessionId: screeningId, reasonCode: 'FILE_FROZEN' });

      await host.press(button('Try again').and(host.frame.locator(':enabled')));
      const pulls = async (): Promise<any> => {
        const reply = await fetch(`${short.service.sandboxUrl}/control/calls`);
        return ((await reply.json()) as any).operations.report;
      };
      await until('the bureau has refused again', async () => (await pulls()).executed === 2);
      const lifted = await fetch(`${short.service.sandboxUrl}/control/lift-freeze`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ssn: '666443217' }),
      });
      expect(await lifted.json()).toEqual({ lifted: 1 });
      await host.press(button('Try again').and(host.frame.locator(':enabled')));
      await page().waitFor();

      const told = await host.told();
      const about = (name: string): unknown[] => told.filter(([each]) => each === name).map(([, payload]) => payload);
      expect(about('onReportUnavailable')).toHaveLength(1);
      expect(about('onScreeningSuccess')).toEqual([
        { sessionId: screeningId, overallStatus: 'COMPLETED' },
        { sessionId: screeningId, overallStatus: 'COMPLETED', score: expect.any(Number) },
      ]);
      expect(about('onError')).toEqual([]);
      const { transactionId } = (await caller.status(screeningId)).body;
      const money = await new Processor(short.service.sandboxUrl).money({ transaction: transactionId });
      expect([money.succeeded, money.received, money.refunded]).toEqual([1, 3_500, 0]);
      expect(await pulls()).toMatchObject({ executed: 3, billed: 1 });
    } finally {
      await short.stop();
    }
  });

  it('is refused until the payment is refunded: the person sees the refund, pays again and sees the report', async () => {
    const authority = new CertificateAuthority();
    const [receiver, trust] = await Promise.all([HttpsReceiver.start({ authority }), trustFile(authority)]);
    const returning = await Embedding.start({
      ...WITH_BROWSER,
      NODE_EXTRA_CA_CERTS: trust.file,
      WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32',
      REPORT_RETRY_INTERVAL: '1',
    });
    try {
      const { service } = returning;
      const owner = new EndpointOwner(service, returning.credentials.accounts.demo);
      await owner.register(receiver.url('/'), { enabled_events: ['payment.refunded', 'payment.succeeded'] });
      const told = (type: string): ReceivedRequest[] =>
        receiver.requests.filter(({ body }) => JSON.parse(body.toString()).type === type);
      const person = { lastName: 'Frozentest', ssn: '666443218' };
      const screeningId: string = (await (await service.signIn('demo')).submit(person)).body.id;
      host = await returning.open();
      await host.mount({ options: { screeningId } });
      await payInComponent();
      await host.frame.getByText('Your credit file is frozen').waitFor();
      const { transactionId } = await host.hears('onPaymentSuccess');
      await until('the refund is planned', async () =>
        (await shownEvents(service, paymentStream(transactionId))).some(({ type }) => type === 'PaymentRefundPlanned'),
      );

      // `refund_after_days` of the demo account.
      await service.passDays(14);
      await until('the account has the webhook of the refund', () => told('payment.refunded').length > 0);
      const [refund] = told('payment.refunded').map((request) => owner.verified(request, 14 * DAY_MS));
      const money = { transaction_id: transactionId, amount_cents: 3_500, currency: 'usd' };
      expect(refund.data).toEqual({ session_id: screeningId, ...money, reason_code: 'report_unavailable' });

      const { refundedAt } = (await (await service.signIn('demo')).status(screeningId)).body;
      const date = new Date(refundedAt).toLocaleDateString('en', { dateStyle: 'long', timeZone: 'America/Chicago' });
      const reads = async (): Promise<void> => {
        await host.frame.getByText(`We gave your earlier payment back to you on ${date}.`).waitFor();
        await host.frame.getByRole('button', { name: 'Pay $35.00' }).waitFor();
      };
      await host.press(button('Try again').and(host.frame.locator(':enabled')));
      await reads();
      const over = (await host.told()).filter(([name]) => name === 'onStepComplete');
      expect([over, await names()]).toEqual([
        [[expect.any(String), { step: 'payment' }]],
        expect.not.arrayContaining(['onError']),
      ]);
      // The second payment has already begun.
      await host.page.reload();
      await host.mount({ options: { screeningId } });
      await reads();
      const lifted = await fetch(`${service.sandboxUrl}/control/lift-freeze`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ssn: person.ssn }),
      });
      expect(await lifted.json()).toEqual({ lifted: 1 });
      await payInComponent();
      await page().waitFor();
      const second = (await host.hears('onPaymentSuccess')).transactionId;
      expect(second).not.toBe(transactionId);
      await host.hears('onScreeningSuccess');
      expect(await names()).not.toContain('onError');
      await until('the account has the webhooks of both payments', () => told('payment.succeeded').length === 2);
      expect(told('payment.refunded')).toHaveLength(1);
      const processor = new Processor(service.sandboxUrl);
      for (const [transaction, refunded] of [
        [transactionId, 3_500],
        [second, 0],
      ])
        expect(await processor.money({ transaction })).toMatchObject({ succeeded: 1, received: 3_500, refunded });
    } finally {
      await returning.stop();
      await receiver.close();
      await rm(trust.folder, { recursive: true, force: true });
    }
  });

  it.each([
    ['screening', 'en', 'Verify again', 'You will not be charged again.', 'Please verify your identity again'],
    ['report', 'es', 'Verificar de nuevo', 'No se le cobrará de nuevo.', 'Verifique su identidad de nuevo'],
  ])(
    'that is permanently refused (view %s, %s): a person who has paid verifies again by keyboard and is not charged again',
    async (view, locale, again, ...texts) => {
      const {
        ssn,
        termsAcceptedAt: _,
        jscPayload: __,
        userType: ___,
        ...prefill
      } = aPerson({ lastName: 'Alreadytest' });
      const lost = await paidFor('demo', { ...prefill, ssn, middleName: 'Upstream9010' });
      await atReport(lost, { account: 'demo', view, options: { prefill }, init: { locale } });
      for (const text of texts) await host.frame.getByText(text, { exact: true }).waitFor();
      const support = host.frame.getByRole('link', { name: 'support@example.test' });
      expect(await support.getAttribute('href')).toBe('mailto:support@example.test');
      expect(await host.hears('onReportUnavailable')).toEqual({ sessionId: lost, reasonCode: 'REPORT_NOT_AVAILABLE' });
      const { transactionId } = (await (await embedding.service.signIn('demo')).status(lost)).body;

      await button(again).press('Enter');
      await new DetailsForm(host.frame, locale as Language).fill({ ssn: String(ssn) });
      await button(DETAILS[locale as Language].send).press('Enter');
      await page().waitFor();
      const paid = { sessionId: lost, overallStatus: 'COMPLETED', score: expect.any(Number) };
      expect(await host.hears('onScreeningSuccess', 2)).toEqual({
        ...paid,
        sessionId: expect.not.stringMatching(lost),
      });
      expect(await names()).not.toContain('onError');
      const money = await new Processor(embedding.service.sandboxUrl).money({ transaction: transactionId });
      expect([money.succeeded, money.received, money.refunded]).toEqual([1, 3_500, 0]);
    },
  );

  it('that is permanently refused: a person who has not paid verifies again and sees no payment step', async () => {
    const id = await verified({}, await embedding.service.signIn('demo'));
    host = await embedding.open();
    const error = { code: 'REPORT_NOT_AVAILABLE', message: 'As the service says it.', recoverable: true };
    await host.page.route('**/payments/create-intent', (route) =>
      route.fulfill({ status: 409, headers: { 'access-control-allow-origin': '*' }, json: { error } }),
    );
    await host.mount({ options: { screeningId: id } });
    await host.frame.getByRole('alert').getByText('Please verify your identity again').waitFor();
    await host.frame.getByText('There is nothing to pay for the earlier verification.').waitFor();
    await host.frame.getByRole('link', { name: 'support@example.test' }).waitFor();
    expect(await host.hears('onError')).toEqual(error);
    await host.press(button('Verify again'));
    await heading('Your name and date of birth').waitFor();
  });

  it('has no score when the file is too thin, and the page of the report says this', async () => {
    const id = await verified({ lastName: 'Thinfiletest' });
    await atReport(id);
    await host.frame.getByText('holds too little to compute a score').waitFor();
    expect(await host.hears('onScreeningSuccess')).toEqual({ sessionId: id, overallStatus: 'COMPLETED' });
  });
});

describe('the view of a report', () => {
  it('shows the report to the recipient of a share without the sharing question, and says if the sharing was never made or was revoked', async () => {
    const granted = { recipient_account_id: accountOf('demo') };
    const caller = await embedding.service.signInUnderGrant('nopay', granted);
    const id = await verified({}, caller);
    const seen = async (text: string, account: keyof Credentials['accounts'] = 'demo'): Promise<void> => {
      await host?.close();
      await atReport(id, { account, view: 'report' });
      await host.frame.getByText(text).waitFor();
      expect(await names()).not.toContain('onError');
    };
    await seen('This report has not been shared with you.', 'unrelated');
    await seen('the applicant has not agreed to share it yet');
    expect((await caller.post(`/reports/${id}/consent-to-share`)).status).toBe(200);
    await seen('The applicant has shared this report with you.');
    await page().waitFor();
    expect(await host.frame.locator('.share').count()).toBe(0);
    expect(await names()).not.toContain('onScreeningSuccess');
    expect((await caller.post(`/reports/${id}/revoke-sharing`)).status).toBe(200);
    await seen('The applicant has stopped sharing this report with you.');
  });
});

describe('an expired report', () => {
  it('says that it has expired, and that a new screening makes a new one', async () => {
    const short = await Embedding.start({ REPORT_VALIDITY: '1' });
    try {
      const caller = await short.service.signIn('nopay');
      const screeningId = await verified({}, caller);
      expect((await caller.get(`/reports/${screeningId}`)).status).toBe(200);
      await until('it has expired', async () => (await caller.get(`/reports/${screeningId}`)).status === 410);
      host = await short.open();
      await host.mount({ account: 'nopay', view: 'report', options: { screeningId } });
      await host.frame.getByText('This report has expired').waitFor();
      expect(await names()).not.toContain('onError');
    } finally {
      await short.stop();
    }
  });
});
