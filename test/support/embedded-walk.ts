// Walks through every screen of the embedded component like a person. The callers inspect each screen: they are the
// tests of accessibility and layout, and the script that takes the pictures of docs/embedded.
import type { FrameLocator, Locator } from 'playwright-core';
import { TEXTS as DETAILS } from '../../web/frame/steps/details/texts.js';
import { ENDED } from '../../web/frame/steps/ended/texts.js';
import { INCOME } from '../../web/frame/steps/income/texts.js';
import { TEXTS as PAYMENT } from '../../web/frame/steps/payment/texts.js';
import { SHARE_TEXTS as SHARE } from '../../web/frame/steps/report/share-texts.js';
import { TEXTS as REPORT } from '../../web/frame/steps/report/texts.js';
import { UNAVAILABLE } from '../../web/frame/steps/report/unavailable-texts.js';
import { STEP_UP } from '../../web/frame/steps/step-up/texts.js';
import { fill } from '../../web/frame/parts/language.js';
import { FRAME } from '../../web/frame/texts.js';
import { ANA, DetailsForm, type Language } from './details-form.js';
import type { HostPage, MountWish } from './embedding.js';
import { aPerson, type PlatformCaller } from './service.js';

/** Called with the name of the screen when the screen has stopped moving. */
export type Look = (screen: string) => Promise<void>;

export const CARD_LABELS = {
  en: ['Card number', 'Expiration date', 'Security code', 'ZIP code'],
  es: ['Número de tarjeta', 'Fecha de vencimiento', 'Código de seguridad', 'Código postal'],
} as const;
/** The display name of the demo account. */
export const ACCOUNT = 'Elm Street Homes';
const GOOD = '4242424242424242';
const DECLINED = '4000000000009995';
const AUTHENTICATED = '4000002500003155';

export class Walk {
  private readonly frame: FrameLocator;
  private readonly details: DetailsForm;

  constructor(
    private readonly demo: PlatformCaller,
    private readonly host: HostPage,
    private readonly language: Language,
    private readonly look: Look,
  ) {
    this.frame = host.frame;
    this.details = new DetailsForm(host.frame, language);
  }

  async everything(): Promise<void> {
    await this.journey();
    await this.endings();
  }

  /** Walks from the details to the end of sharing. */
  private async journey(): Promise<void> {
    const { language, look } = this;
    const [details, stepUp, share] = [DETAILS[language], STEP_UP[language], SHARE[language]];
    await this.mount();
    const { firstName, dateOfBirth, phoneNumber, currentAddress, currentCity, currentState, currentZip } = ANA;
    await this.heading(details.aboutTitle);
    await look('details');
    await this.press(details.send);
    await this.details.field('firstName').and(this.frame.locator(':focus')).waitFor();
    await look('details-problems');
    await this.details.type({ firstName, lastName: 'Choicetest', dateOfBirth });
    await this.press(details.addMiddleName);
    await this.details.field('middleName').and(this.frame.locator(':focus')).waitFor();
    await look('details-name');
    await this.press(details.send);
    await this.heading(details.numbersTitleConsumer);
    await this.details.type({ ssn: String(aPerson()['ssn']), phoneNumber });
    await look('details-numbers');
    await this.press(details.send);
    await this.heading(details.homeTitle);
    await look('details-home');
    await this.details.type({ currentAddress, currentCity, currentState, currentZip });
    await this.details.field('terms').check();
    await this.press(details.send);
    await this.heading(stepUp.choiceTitle);
    await look('choice');
    await this.press(stepUp.chooseOtp);
    await this.heading(stepUp.otpTitle);
    await look('code');
    await this.frame.locator('[name=code]').fill('111111');
    await this.frame.locator('.problem').getByText(stepUp.codeWrong).waitFor();
    await look('code-wrong');
    await this.press(stepUp.instead);
    await this.question(1);
    await look('questions');
    await this.press(stepUp.continue);
    await this.frame.locator('[role=radiogroup][aria-invalid]').waitFor();
    await look('questions-missing');
    for (const question of [1, 2, 3, 4]) {
      await this.question(question);
      await this.frame
        .getByRole('radio')
        .nth(question - 1)
        .check();
      if (question === 4) await look('questions-last');
      await this.press(stepUp.continue);
    }

    await this.pay();

    await this.heading(fill(share.question, { account: ACCOUNT }));
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

  /** Shows the payment of a verified session to the caller, pays, and waits for the report. */
  async paid(screeningId: string): Promise<void> {
    await this.mount({ options: { screeningId } });
    await this.payButton().waitFor();
    await this.look('payment');
    await this.payWith(GOOD);
    await this.heading(fill(SHARE[this.language].question, { account: ACCOUNT }));
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

  /** The other possible ends of the journey, and the other views. */
  private async endings(): Promise<void> {
    const { demo, frame, host, language, look } = this;
    const [ended, income] = [ENDED[language], INCOME[language]];
    const confirmed = await this.submitted('Example');
    const unknown = await this.submitted('Noincometest');
    // The sessions are opened in the same way as the view opens them, so that they have ended before the view shows
    // them.
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
      ['income-consent', { view: 'income', options: { screeningId: unpaid } }, income.consentTitle],
      ['income', { view: 'income', options: { screeningId: unpaid } }, income.title],
      ['income-confirmed', { view: 'income', options: { screeningId: confirmed } }, FRAME[language].incomeDone],
      ['income-failed', { view: 'income', options: { screeningId: unknown } }, income.failed],
      ['not-loaded', { options: { screeningId: '01890000-0000-7000-8000-000000000000' } }, FRAME[language].failed],
    ];
    for (const [screen, wish, title] of screens) {
      await this.mount(wish);
      if (wish.view === 'income' && screen !== 'income-consent') await this.press(income.agree);
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
    await this.heading(DETAILS[language].aboutTitle);
    await host.page.context().setOffline(true);
    await frame.locator('.offline').waitFor();
    await look('offline');
  }

  /** The question of this number, from one. */
  private question(question: number): Promise<void> {
    return this.heading(fill(STEP_UP[this.language].kbaProgress, { question, questions: 4 }));
  }

  private async mount(wish: MountWish = {}): Promise<void> {
    await this.host.page.reload();
    await this.host.mount({ ...wish, init: { locale: this.language } });
  }

  private async submitted(lastName: string): Promise<string> {
    const { body } = await this.demo.submit({ lastName });
    return body.id ?? body.error.sessionId;
  }

  /** Uses the keyboard, because a caller may resize the window and the target of a mouse may move in the meantime. */
  private press(name: string): Promise<void> {
    return this.frame.getByRole('button', { name }).press('Enter');
  }

  private heading(name: string): Promise<void> {
    return this.frame.getByRole('heading', { name, exact: true }).waitFor();
  }
}
