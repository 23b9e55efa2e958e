// The whole journey through the embedded component in Firefox and in WebKit, by keyboard, in a window smaller than the
// page.
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { TEXTS as DETAILS } from '../../web/frame/steps/details/texts.js';
import { TEXTS as PAYMENT } from '../../web/frame/steps/payment/texts.js';
import { SHARE_TEXTS as SHARE } from '../../web/frame/steps/report/share-texts.js';
import { TEXTS as REPORT } from '../../web/frame/steps/report/texts.js';
import { STEP_UP } from '../../web/frame/steps/step-up/texts.js';
import { fill } from '../../web/frame/parts/language.js';
import { ACCOUNT } from '../support/embedded-walk.js';
import { soon } from '../support/eventually.js';
import { IntegratorSite } from '../support/integrator-site.js';
import { DrivenBrowser, type Engine, type FramePath, missing } from '../support/web-driver.js';

const FRAME = ['#place iframe'];
const CARD = [...FRAME, 'iframe[src*="payment-element"]'];
const BANK = [...FRAME, 'iframe[src*="authentication"]'];
const [details, stepUp, payment, share] = [DETAILS.en, STEP_UP.en, PAYMENT.en, SHARE.en];
const TELLING = ['onPaymentSuccess', 'onReportShared', 'onReportRevoked'];
const WINDOW = { width: 800, height: 700 };
/** The headers of a page that needs threads. */
const ISOLATION = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

let site: IntegratorSite;
let browser: DrivenBrowser;

// The drivers of both engines sometimes fail on a busy machine. A test that fails runs once more in a new browser, and
// its first error is printed.
jest.retryTimes(1, { logErrorsBeforeRetry: true });

beforeAll(async () => {
  site = await IntegratorSite.start();
  const page = site.hostPage('<main id="place"></main><footer style="height:3000px">Below</footer>');
  site.serving('/', { html: page }).serving('/isolated', { html: page, headers: ISOLATION });
});
afterAll(() => site?.stop());

describe.each<Engine>(['Firefox', 'WebKit'])('the component in %s', (engine) => {
  const lacking = missing(engine);
  const where = lacking.length === 0 ? it : it.skip;
  if (lacking.length > 0)
    process.stderr.write(`Not run: the component in ${engine}. This machine has no ${lacking.join(', ')}.\n`);

  where('goes from the details to the report that is no longer shared, with each step in view', async () => {
    browser = await DrivenBrowser.start(engine, WINDOW);
    try {
      await open('/');
      await mount({});
      await shown(FRAME, details.aboutTitle);
      const hasRoom = (): boolean => {
        const legend = (globalThis as any).document.querySelector('.group > legend');
        return legend.nextElementSibling.getBoundingClientRect().top - legend.getBoundingClientRect().bottom > 10;
      };
      // WebKit gives the focus to a frame that the person has not used before.
      await browser.type([], '\t');
      await inView(FRAME, '[name=firstName]');
      await browser.type(FRAME, 'Ada\tChoicetest\t\t01021990\n');
      await step(details.numbersTitleConsumer);
      await picture('details');
      await browser.type(FRAME, '\t123456789\t\t5125550100\n');
      await step(details.homeTitle);
      await look('room below a legend', FRAME, hasRoom, null);
      await browser.type(FRAME, '\t12 Elm Street\tAustin\tCal\t78701');
      for (const part of ['.terms', '[name=terms]', '[type=submit]']) {
        await browser.type(FRAME, '\t');
        await inView(FRAME, part);
        if (part === '[name=terms]') await browser.type(FRAME, ' ');
      }
      await picture('home');
      await browser.type(FRAME, '\n');

      await step(stepUp.choiceTitle);
      await press(stepUp.chooseOtp);
      await shown(FRAME, stepUp.otpTitle);
      await inView(FRAME, '[name=code]');
      await picture('code');
      await browser.type(FRAME, '111111');
      await shown(FRAME, stepUp.codeWrong);
      await press(stepUp.instead);
      for (const question of [1, 2, 3, 4]) {
        await step(fill(stepUp.kbaProgress, { question, questions: 4 }));
        await picture(`question-${question}`);
        await answer(question);
        await press(stepUp.continue);
      }
      await paid(engine);

      await step(REPORT.en.title);
      await shown(FRAME, fill(share.question, { account: ACCOUNT }));
      await press(share.share);
      await step(share.shared);
      await picture('shared');
      await press(share.stop);
      await step(share.sure);
      await press(share.stopForGood);
      await step(share.revoked);
      expect(await told()).toEqual(TELLING);
      for (const field of ['dateOfBirth', 'lastName', 'code'])
        expect([field, await remembers(field)]).toEqual([field, false]);
    } finally {
      await picture('last');
      await browser.stop();
    }
  });

  where('is embedded by a page that isolates itself, with the card fields in it', async () => {
    const { body } = await (await site.service.signIn()).submit();
    browser = await DrivenBrowser.start(engine, WINDOW);
    try {
      await open('/isolated');
      expect(await browser.run([], () => (globalThis as any).crossOriginIsolated, null)).toBe(true);
      await mount({ screeningId: body.id });
      await shown(FRAME, payment.whoSeesTheCard);
      await look(
        'the card fields',
        CARD,
        () => (globalThis as any).document.querySelector('[name=number]') !== null,
        null,
      );
    } finally {
      await picture('isolated');
      await browser.stop();
    }
  });
});

async function open(path: string): Promise<void> {
  await browser.open(site.origin + path);
}

async function mount(options: object, view = 'screening'): Promise<void> {
  const { publishableKey } = site.credentials.accounts.demo;
  await browser.run(
    [],
    async ({ view, options, publishableKey, names }) => {
      // Firefox runs scripts outside the page's own global.
      const host = (globalThis as any).window;
      host.told = [];
      const callbacks = Object.fromEntries(names.map((name) => [name, () => host.told.push(name)]));
      const instance = await host.Service.init(publishableKey, { locale: 'en' });
      const unitAddress = '12 Elm Street, Apt 4, Austin, TX 78701';
      await instance.mount(view, { selector: '#place', unitAddress, ...callbacks, ...options });
    },
    { view, options, publishableKey, names: [...TELLING, 'onError'] },
  );
}

const told = (): Promise<string[]> => browser.run([], () => (globalThis as any).window.told, null);

/** Runs the script until it returns a true value, and returns this value. */
async function look<A, R>(what: string, frames: FramePath, script: (argument: A) => R, argument: A): Promise<R> {
  let seen: R | undefined;
  await soon(async () => {
    seen = await browser.run(frames, script, argument);
    if (!seen) throw new Error(`${what} was not seen`);
  });
  return seen!;
}

async function shown(frames: FramePath, text: string): Promise<void> {
  await look(text, frames, (text) => (globalThis as any).document.body.innerText.includes(text), text);
}

async function focus(frames: FramePath, selector: string, text = ''): Promise<void> {
  await look(
    `${selector} ${text} with the focus`,
    frames,
    ({ selector, text }) => {
      const { document } = globalThis as any;
      const element = [...document.querySelectorAll(selector)].find((each) => each.textContent.includes(text));
      element?.focus();
      return element !== undefined && document.activeElement === element;
    },
    { selector, text },
  );
}

/** Presses Enter on the button until the page has noticed the key. A driver sometimes loses a key. */
async function press(name: string): Promise<void> {
  await soon(async () => {
    await focus(FRAME, 'button', name);
    await browser.run(
      FRAME,
      () => {
        const { activeElement, documentElement } = (globalThis as any).document;
        documentElement.dataset.pressed = 'no';
        activeElement.addEventListener('click', () => (documentElement.dataset.pressed = 'yes'), { once: true });
      },
      null,
    );
    await browser.type(FRAME, '\n');
    const pressed = await browser.run(FRAME, () => (globalThis as any).document.documentElement.dataset.pressed, null);
    expect([name, pressed]).toEqual([name, 'yes']);
  });
}

/** Chooses the answer with the number of its question, which is the right answer. */
async function answer(question: number): Promise<void> {
  const choices = `[name=question-${question}]`;
  await soon(async () => {
    await focus(FRAME, choices);
    await browser.type(FRAME, ` ${'↓'.repeat(question - 1)}`);
    const chosen = await browser.run(
      FRAME,
      (choices) => [...(globalThis as any).document.querySelectorAll(choices)].findIndex((each) => each.checked) + 1,
      choices,
    );
    expect([choices, chosen]).toEqual([choices, question]);
  });
}

/** The given element has the focus, and the window shows the whole element. */
async function inView(frames: FramePath, selector: string, text = ''): Promise<void> {
  await soon(async () => {
    const focused: Place = await browser.run(
      frames,
      ({ selector, text }) => {
        const { activeElement, body } = (globalThis as any).document;
        if (!activeElement.matches(selector) || !activeElement.textContent.includes(text))
          throw new Error(
            `"${selector}" with the text "${text}" does not have the focus. ${activeElement.outerHTML.slice(0, 300)} has it, and the page shows: ${body.innerText.slice(0, 600)}`,
          );
        const { top, bottom } = activeElement.getBoundingClientRect();
        return { top, bottom };
      },
      { selector, text },
    );
    let above = 0;
    for (const [depth, frame] of frames.entries()) {
      const { top }: Place = await browser.run(
        frames.slice(0, depth),
        (frame) => (globalThis as any).document.querySelector(frame).getBoundingClientRect().toJSON(),
        frame,
      );
      above += top;
    }
    const height: number = await browser.run([], () => (globalThis as any).innerHeight, null);
    expect([selector, text, above + focused.top >= 0, above + focused.bottom <= height]).toEqual([
      selector,
      text,
      true,
      true,
    ]);
  });
}

interface Place {
  readonly top: number;
  readonly bottom: number;
}

const step = (title: string): Promise<void> => inView(FRAME, 'h1, h2', title);

async function paid(engine: Engine): Promise<void> {
  await step(payment.title);
  await shown(FRAME, payment.whoSeesTheCard);
  await browser.type(FRAME, '\t');
  await inView(CARD, '[name=number]');
  await browser.type(CARD, '4000002500003155\t1239\t123\t78701\n');
  await shown(BANK, 'Complete');
  // WebKit does not let a page take the focus before a person has acted in the page.
  if (engine === 'WebKit') await browser.type(BANK, '\t');
  await inView(BANK, '.main');
  await picture('bank');
  await browser.type(BANK, '\n');
}

async function picture(name: string): Promise<void> {
  const folder = process.env['PICTURES'];
  if (folder !== undefined) await writeFile(join(folder, `${browser.engine}-${name}.png`), await browser.picture());
}

/** Whether Firefox's history of forms has a field of this name. Firefox makes the file only when it stores an entry. */
async function remembers(field: string): Promise<boolean> {
  const names = (await readdir(browser.profile)).filter((name) => name.startsWith('formhistory.'));
  const files = await Promise.all(names.map((name) => readFile(join(browser.profile, name), 'latin1')));
  return files.some((file) => file.includes(field));
}
