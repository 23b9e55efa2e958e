// Walks through every screen of the embedded component as people do. The caller looks at each screen: the tests of accessibility and
// layout, and the script that takes the pictures of docs/embedded.
import type { FrameLocator, Locator } from 'playwright-core';
import { TEXTS as DETAILS } from '../../web/frame/steps/details/texts.js';
import { ENDED } from '../../web/frame/steps/ended/texts.js';
import { INCOME } from '../../web/frame/steps/income/texts.js';
import { TEXTS as PAYMENT } from '../../web/frame/steps/payment/texts.js';
import { SHARE_TEXTS as SHARE } from '../../web/frame/steps/report/share-texts.js';
import { TEXTS as REPORT } from '../../web/frame/steps/report/texts.js';
import { UNAVAILABLE } from '../../web/frame/steps/report/unavailable-texts.js';
import { STEP_UP } from '../../web/frame/steps/step-up/texts.js';
import { FRAME } from '../../web/frame/texts.js';
import type { HostPage, MountWish } from './embedding.js';
import { aPerson, type PlatformCaller } from './service.js';

export type Language = 'en' | 'es';
/** Called with the name of the screen once the screen has stopped moving. */
export type Look = (screen: string) => Promise<void>;

export const CARD_LABELS = {
  en: ['Card number', 'Expiration date', 'Security code', 'ZIP code'],
  es: ['Número de tarjeta', 'Fecha de vencimiento', 'Código de seguridad', 'Código postal'],
} as const;
const GOOD = '4242424242424242';
const DECLINED = '4000000000009995';
const AUTHENTICATED = '4000002500003155';

export class Walk {
  private readonly frame: FrameLocator;

  constructor(
    private readonly demo: PlatformCaller,
    private readonly host: HostPage,
    private readonly language: Language,
    private readonly look: Look,
  ) {
    this.frame = host.frame;
  }

  async everything(): Promise<void> {
    await this.journey();
    await this.endings();
  }

  /** Walks from the details to the report that is no longer shared. */
  private async journey(): Promise<void> {
    const { language, look } = this;
    const [details, stepUp, share] = [DETAILS[language], STEP_UP[language], SHARE[language]];
    await this.mount();
    await this.heading(details.title);
    await look('details');
    await this.press(details.send);
    await this.field(details.firstName).and(this.frame.locator(':focus')).waitFor();
    await look('details-problems');

    await this.fillIn('Choicetest');
    await this.press(details.send);
    await this.heading(stepUp.choiceTitle);
    await look('choice');
    await this.press(stepUp.chooseOtp);
    await this.heading(stepUp.otpTitle);
    await look('code');
    await this.field(stepUp.code).fill('111111');
    await this.press(stepUp.continue);
    await this.frame.locator('.problem').getByText(stepUp.codeWrong).waitFor();
    await look('code-wrong');
    await this.press(stepUp.instead);
    await this.heading(stepUp.kbaTitle);
    await look('questions');
    await this.press(stepUp.continue);
    await this.frame.getByRole('radiogroup').first().and(this.frame.locator('[aria-invalid]')).waitFor();
    await look('questions-missing');
    for (const question of [0, 1, 2, 3])
      await this.frame.getByRole('radiogroup').nth(question).getByRole('radio').nth(question).check();
    await this.press(stepUp.continue);

    await this.pay();

    await this.heading(share.question);
    await look('report');
    await this.press(share.share);
    await this.heading(share.shared);
    await look('report-shared');
    await this.press(share.stop);
    await this.heading(share.sure);
    await look('report-stop-sharing');
    await this.press(share.stopForGood);
    await this.heading(share.revoked);
    await look('report-sharing-stopped');
  }

  private async pay(): Promise<void> {
    const { frame, host, language, look } = this;
    const texts = PAYMENT[language];
    await this.payButton().waitFor();
    await look('payment');
    await this.payWith(DECLINED);
    await frame.getByRole('alert').getByText(texts.insufficientFunds).waitFor();
    await look('payment-declined');
    await this.payWith(AUTHENTICATED);
    await frame.frameLocator('iframe[src*="authentication"]').getByRole('dialog').waitFor();
    await look('payment-authentication');
    await host.page.keyboard.press('Tab');
    await frame.frameLocator('iframe[src*="authentication"]').getByRole('button').first().click();
  }

  private payButton(): Locator {
    const name = PAYMENT[this.language].pay.replace('{amount}', '$35.00');
    return this.frame.getByRole('button', { name });
  }

  private async payWith(number: string): Promise<void> {
    await this.payButton().waitFor();
    const fields = this.frame.frameLocator('iframe[src*="payment-element"]');
    for (const [index, value] of [number, '12 / 39', '123', '78701'].entries())
      await fields.getByLabel(CARD_LABELS[this.language][index] as string).fill(value);
    await this.host.press(this.payButton());
  }

  /** The other ends of the journey, and the other views. */
  private async endings(): Promise<void> {
    const { demo, frame, host, language, look } = this;
    const [ended, income] = [ENDED[language], INCOME[language]];
    const confirmed = await this.submitted('Example');
    const unknown = await this.submitted('Noincometest');
    // Opened as the view opens them, so that they have ended before the view shows them.
    for (const id of [confirmed, unknown]) await demo.post('/voie/sessions', { screening_session_id: id, attempt: 1 });
    const locked = await this.submitted('Lockedtest');
    const expired = await this.submitted('Expiredtest');
    for (const id of [locked, expired]) await demo.post(`/screening/${id}/otp`, { code: '111111' });
    const unpaid = await this.submitted('Slowincometest');
    const agent = (await demo.submit({ userType: 'AGENT' })).body.id;

    const screens: [screen: string, wish: MountWish, title: string][] = [
      ['blocked', { options: { screeningId: locked } }, ended.attempts],
      ['expired', { options: { screeningId: expired } }, ended.expired],
      ['not-found', { options: { screeningId: await this.submitted('Notfound') } }, ended.notFound],
      ['verified', { options: { screeningId: agent } }, FRAME[language].verified],
      ['report-refused', { view: 'report', options: { screeningId: unpaid } }, REPORT[language].title],
      ['income', { view: 'income', options: { screeningId: unpaid } }, income.title],
      ['income-confirmed', { view: 'income', options: { screeningId: confirmed } }, FRAME[language].incomeDone],
      ['income-failed', { view: 'income', options: { screeningId: unknown } }, income.failed],
      ['not-loaded', { options: { screeningId: '01890000-0000-7000-8000-000000000000' } }, FRAME[language].failed],
    ];
    for (const [screen, wish, title] of screens) {
      await this.mount(wish);
      await this.heading(title);
      if (screen === 'report-refused') await frame.getByRole('alert').waitFor();
      if (screen === 'income') await frame.locator('.spinner').getByText(income.PAYROLL).waitFor();
      await look(screen);
    }

    await this.mount({ options: { screeningId: await this.submitted('Frozentest') } });
    await this.payWith(GOOD);
    await this.heading(UNAVAILABLE[language].title);
    await look('report-unavailable');

    const { body } = await demo.submit({ middleName: 'Upstream9010' });
    await this.mount({ options: { screeningId: body.id } });
    await this.payWith(GOOD);
    await frame.getByRole('alert').getByText(UNAVAILABLE[language].VERIFY_AGAIN, { exact: true }).waitFor();
    await look('report-verify-again');

    await this.mount();
    await this.heading(DETAILS[language].title);
    await host.page.context().setOffline(true);
    await frame.locator('.offline').waitFor();
    await look('offline');
  }

  private async fillIn(lastName: string): Promise<void> {
    const texts = DETAILS[this.language];
    const person = aPerson({ lastName });
    for (const [label, value] of [
      [texts.firstName, person['firstName']],
      [texts.lastName, lastName],
      [texts.dateOfBirth, person['dateOfBirth']],
      [texts.ssn, person['ssn']],
      [texts.phoneNumber, person['phoneNumber']],
      [texts.currentAddress, person['currentAddress']],
      [texts.currentCity, person['currentCity']],
      [texts.currentZip, person['currentZip']],
    ] as [string, string][])
      await this.field(label).fill(value);
    await this.field(texts.currentState).selectOption('CA');
    await this.frame.getByRole('checkbox').check();
  }

  private async mount(wish: MountWish = {}): Promise<void> {
    await this.host.page.reload();
    await this.host.mount({ ...wish, init: { locale: this.language } });
  }

  private async submitted(lastName: string): Promise<string> {
    const { body } = await this.demo.submit({ lastName });
    return body.id ?? body.error.sessionId;
  }

  private field(label: string): Locator {
    return this.frame.locator('.field', { has: this.frame.locator(`label:text-is("${label}")`) }).locator('.control');
  }

  /** Uses the keyboard, because a look resizes the window and the target of a mouse may move in the meantime. */
  private press(name: string): Promise<void> {
    return this.frame.getByRole('button', { name }).press('Enter');
  }

  private heading(name: string): Promise<void> {
    return this.frame.getByRole('heading', { name, exact: true }).waitFor();
  }
}
