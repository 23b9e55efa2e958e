// The accessibility of the component. The tests run axe on every screen in both languages and themes. The tests also
// check the widths that WCAG names, and the whole journey by keyboard.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Frame } from 'playwright-core';
import { ONE_PROCESS } from '../../support/browsers.js';
import { ANA, DetailsForm, type Language } from '../../support/details-form.js';
import { CARD_LABELS, Walk } from '../../support/embedded-walk.js';
import { Embedding, type HostPage } from '../../support/embedding.js';
import { until } from '../../support/eventually.js';
import { aPerson, type PlatformCaller } from '../../support/service.js';

/** CSS pixels: a wide window, 1280 at 200 % (which halves both sides), and the width that WCAG 1.4.10 asks for. */
const WIDE = { width: 1_280, height: 800 };
const ZOOMED = { width: 640, height: 400 };
const NARROW = { width: 320, height: 640 };

const CONSENT = 'I have read and accept the terms, and I consent to this screening.';

let axe: string;
let embedding: Embedding;
let demo: PlatformCaller;
/** The number of checks of a report. */
let reports = 0;

beforeAll(async () => {
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  embedding = await Embedding.start({}, { isolation: ONE_PROCESS });
  demo = await embedding.service.signIn();
});
afterAll(() => embedding?.stop());

/** The findings of axe in the page and its frames. */
async function findings({ page }: HostPage): Promise<string[]> {
  const inReports = await Promise.all(page.frames().map(findingsInReport));
  const around = await page.evaluate(async () => {
    const { violations, passes } = await (globalThis as any).axe.run(
      // The browser runs no script in the frame of the report (see below).
      { exclude: [['#place iframe', '.report-page']] },
      // A frame that does not answer at once is busy. By default axe skips such a frame.
      { rules: { 'target-size': { enabled: true } }, pingWaitTime: 60_000 },
    );
    // The selector of an element inside a frame begins with the selector of the frame.
    const isRead = passes.some(
      ({ id, nodes }: any) => id === 'color-contrast' && nodes.some(({ target }: any) => target.length > 1),
    );
    return [
      ...(isRead ? [] : ['the frame was not read']),
      ...violations.flatMap(({ id, nodes }: any) => nodes.map(({ html }: any) => `${id}: ${html.slice(0, 200)}`)),
    ];
  });
  return [...around, ...inReports.flat()];
}

/**
 * The findings in a report's frame; none for another frame. No script runs in that frame, so axe cannot answer from there, and timers
 * never end. The browser's driver may still evaluate axe there, with timers that end at once.
 */
async function findingsInReport(frame: Frame): Promise<string[]> {
  const element = frame.parentFrame() && (await frame.frameElement());
  if ((await element?.getAttribute('class')) !== 'report-page') return [];
  await frame.evaluate(() => {
    const window = globalThis as any;
    window.setTimeout = (then: () => void, ms = 0) => void (ms < 100 && Promise.resolve().then(then));
  });
  await frame.evaluate(axe);
  reports += 1;
  return frame.evaluate(async () => {
    const { violations, passes } = await (globalThis as any).axe.run({
      rules: { 'target-size': { enabled: true } },
    });
    const isRead = passes.some(({ id, nodes }: any) => id === 'color-contrast' && nodes.length > 10);
    return [
      ...(isRead ? [] : ['the report was not read']),
      ...violations.flatMap(({ id, nodes }: any) =>
        nodes.map(({ html }: any) => `report, ${id}: ${html.slice(0, 200)}`),
      ),
    ];
  });
}

/** Frames whose content is wider than the frame. */
async function surplus({ page }: HostPage, direction: 'ltr' | 'rtl' = 'ltr'): Promise<string[]> {
  const found = await Promise.all(
    page.frames().map((frame) =>
      frame.evaluate((dir) => {
        const { document, location } = globalThis as any;
        document.documentElement.dir = dir;
        const { scrollWidth, clientWidth } = document.documentElement;
        return scrollWidth > clientWidth ? [`${location.pathname} has ${scrollWidth} in ${clientWidth}`] : [];
      }, direction),
    ),
  );
  return found.flat();
}

describe('Every screen', () => {
  it('passes axe in both languages and themes, and fits into 320 pixels and at 200 %', async () => {
    const found: string[] = [];
    const walked = await Promise.all((['en', 'es'] as const).map((language) => walk(language, found)));
    expect(found).toEqual([]);
    expect(walked.map((screens) => screens.length)).toEqual([31, 31]);
    // Four screens in two languages and themes.
    expect(reports).toBe(16);
  });

  async function walk(language: Language, found: string[]): Promise<string[]> {
    const screens: string[] = [];
    const host = await embedding.open('/', { viewport: WIDE, reducedMotion: 'reduce' });
    const { page } = host;
    // Adds axe to every frame, although the policies of the pages forbid scripts. The frames answer the page at any
    // origin.
    await page.addInitScript({ content: `${axe}; axe.configure({ allowedOrigins: ['<unsafe_all_origins>'] })` });
    await new Walk(demo, host, language, async (screen) => {
      const note = (how: string, what: string[]): void =>
        void found.push(...what.map((each) => `${screen}, ${language}, ${how}: ${each}`));
      screens.push(screen);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize(WIDE);
      note('light', await findings(host));
      await page.setViewportSize(ZOOMED);
      note('200 %', await surplus(host));
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize(NARROW);
      note('from right to left', await surplus(host, 'rtl'));
      note('320 px', await surplus(host));
      note('dark', await findings(host));
    }).everything();
    await host.close();
    return screens;
  }
});

/** The live region of the frame is also emptied after some seconds. In the test this timer never ends. */
async function keepAnnouncements({ page }: HostPage): Promise<void> {
  await page.addInitScript(() => {
    const window = globalThis as any;
    const { setTimeout } = window;
    window.setTimeout = (then: () => void, ms = 0) => (ms === 5_000 ? 0 : setTimeout(then, ms));
  });
}

describe('The live region', () => {
  it('is empty when the work that it named has ended', async () => {
    const host = await embedding.open();
    const { frame } = host;
    const region = frame.locator('[aria-live]');
    const empty = frame.locator('[aria-live]:empty');
    await keepAnnouncements(host);
    await host.mount();
    await host.hears('onReady');
    await empty.waitFor({ state: 'attached' });
    let isSubmitted = false;
    await host.page.route('**/screening/submit', async (route) => {
      await region.getByText('Confirming your identity…').waitFor({ state: 'attached' });
      isSubmitted = true;
      await route.continue();
    });
    await new DetailsForm(frame).fill({ ...ANA, ssn: String(aPerson()['ssn']) });
    await host.press(frame.getByRole('button', { name: 'Continue' }));
    const pay = frame.getByRole('button', { name: 'Pay $35.00' });
    await pay.waitFor();
    await empty.waitFor({ state: 'attached' });
    const fields = frame.frameLocator('iframe[src*="payment-element"]');
    for (const [index, text] of ['4000000000009995', '1239', '123', '78701'].entries())
      await fields.getByLabel(CARD_LABELS.en[index] as string).fill(text);
    await host.press(pay);
    await frame.getByRole('alert').getByText('does not have enough funds').waitFor();
    await empty.waitFor({ state: 'attached' });
    expect(isSubmitted).toBe(true);
    await host.close();
  });
});

describe('The first step', () => {
  it('shows an outline while it loads, and then leaves the live region empty', async () => {
    const host = await embedding.open();
    await keepAnnouncements(host);
    const outline = host.frame.locator('.skeleton');
    await host.page.route('**/screening/options*', async (route) => {
      await outline.waitFor();
      await route.continue();
    });
    await host.mount();
    await host.hears('onReady');
    expect(await outline.count()).toBe(0);
    await host.frame.locator('[aria-live]:empty').waitFor({ state: 'attached' });
    await host.close();
  });
});

describe('The keyboard alone', () => {
  let host: HostPage;
  afterEach(() => host.close());

  /** The name of the focused element across all frames, and whether its focus is visible. */
  async function focused(): Promise<{ readonly name: string; readonly isSeen: boolean }> {
    for (const frame of host.page.frames()) {
      const asked = frame.evaluate(() => {
        const { document, getComputedStyle } = globalThis as any;
        const active = document.hasFocus() ? document.activeElement : null;
        if (!active || ['BODY', 'IFRAME'].includes(active.tagName)) return null;
        const { outlineStyle, outlineWidth } = getComputedStyle(active);
        const name: string = active.ariaLabel ?? active.labels?.[0]?.textContent ?? active.textContent;
        return { name, isSeen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 };
      });
      // A frame may disappear while the test reads it.
      const found = await asked.catch(() => null);
      if (found) return found;
    }
    return { name: '', isSeen: true };
  }

  const comesTo = (name: string): Promise<void> =>
    until(`the focus is at ${name}`, async () => (await focused()).name === name);

  /**
   * Presses Tab until the element with that name has the focus. Returns the names of all elements that had the focus.
   * The focus must be visible on each of them.
   */
  async function tabTo(name: string, key = 'Tab'): Promise<string[]> {
    const stops: string[] = [];
    while (stops.at(-1) !== name) {
      const before = await focused();
      await host.page.keyboard.press(key);
      // The focus needs some time to move from one frame to another.
      let stop = before;
      await until('the focus has moved', async () => {
        stop = await focused();
        return stop.name !== before.name;
      });
      expect({ stops, ...stop }).toMatchObject({ isSeen: true });
      stops.push(stop.name);
      if (stops.length > 30) throw new Error(`${name} was not reached: ${stops.join(', ')}`);
    }
    return stops;
  }

  /** The texts that describe a form field to a screen reader. */
  const described = (label: string): Promise<string> =>
    host.frame.getByLabel(label, { exact: true }).evaluate((input: any) =>
      (input.getAttribute('aria-describedby') ?? '')
        .split(' ')
        .map((id: string) => input.ownerDocument.getElementById(id)?.textContent)
        .join(' '),
    );

  it('leads from the details to the end of sharing', async () => {
    host = await embedding.open();
    const { keyboard } = host.page;
    const { frame } = host;
    await host.mount();
    await host.hears('onReady');

    expect(await tabTo('Use test data')).toEqual([
      'First name',
      'Last name',
      'Add middle name',
      'Date of birth',
      'Continue',
      'Use test data',
    ]);
    await tabTo('Continue', 'Shift+Tab');
    await keyboard.press('Enter');
    await comesTo('First name');
    expect(await frame.getByRole('alert').textContent()).toBe(
      'Please check these fieldsFirst nameLast nameDate of birth',
    );
    expect(await described('Date of birth')).toBe('MM/DD/YYYY Please fill this in.');
    await keyboard.type(ANA.firstName);
    await tabTo('Last name');
    await keyboard.type('Choicetest');
    await tabTo('Add middle name');
    await keyboard.press('Enter');
    await comesTo('Middle name (optional)');
    await tabTo('Date of birth');
    await keyboard.type(ANA.dateOfBirth);
    await keyboard.press('Enter');

    await comesTo('Your Social Security number and phone');
    expect(await tabTo('Use test data')).toEqual([
      'Social Security number',
      'Show Social Security number',
      'Mobile phone number',
      'Add email address',
      'Continue',
      'Use test data',
    ]);
    await tabTo('Back', 'Shift+Tab');
    await keyboard.press('Enter');
    await comesTo('Your name and date of birth');
    expect(await frame.getByLabel('Last name').inputValue()).toBe('Choicetest');
    await tabTo('Continue');
    await keyboard.press('Enter');
    await comesTo('Your Social Security number and phone');
    await tabTo('Social Security number');
    await keyboard.type(String(aPerson()['ssn']));
    await tabTo('Mobile phone number');
    await keyboard.type('4155550134');
    await keyboard.press('Enter');

    await comesTo('Where you live now, and your consent');
    const home = ['Street address', 'City', 'State', 'ZIP code', 'Terms and consent'];
    expect(await tabTo(CONSENT)).toEqual([...home, CONSENT]);
    await tabTo('Street address', 'Shift+Tab');
    for (const text of ['1 Main St', 'Oakland', 'California', '94105']) {
      await keyboard.type(text);
      await keyboard.press('Tab');
    }
    await tabTo(CONSENT);
    await keyboard.press('Space');
    await tabTo('Continue');
    await keyboard.press('Enter');

    await comesTo('Confirm that it is you');
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await comesTo('Code');
    await keyboard.type('111111');
    const problem = 'That code is not right. You have 2 attempts left.';
    await frame.locator('[aria-live]').getByText(problem).waitFor({ state: 'attached' });
    await comesTo('Code');
    expect(await described('Code')).toBe(`4 to 8 digits ${problem}`);
    await keyboard.type('123456');

    await comesTo('Pay for your screening');
    await frame.getByRole('button', { name: 'Pay $35.00' }).waitFor();
    for (const [index, text] of ['4000002500003155', '1239', '123', '78701'].entries()) {
      await tabTo(CARD_LABELS.en[index] as string);
      await keyboard.type(text);
    }
    await tabTo('Pay $35.00');
    await keyboard.press('Enter');
    await comesTo('Complete');
    await tabTo('Fail');
    await tabTo('Complete', 'Shift+Tab');
    await keyboard.press('Enter');

    await comesTo('Your screening report');
    await frame.getByRole('heading', { name: 'Share with Elm Street Homes?' }).waitFor();
    await tabTo('Share my report');
    await keyboard.press('Enter');
    await comesTo('Your report is shared');
    await tabTo('Stop sharing');
    await keyboard.press('Space');
    await comesTo('Stop sharing for good?');
    await tabTo('Keep sharing');
    await tabTo('Stop sharing for good');
    await keyboard.press('Enter');
    await comesTo('You have stopped sharing your report');
    expect(await host.hears('onReportRevoked')).toMatchObject({ reportId: expect.any(String) });
  });
});
