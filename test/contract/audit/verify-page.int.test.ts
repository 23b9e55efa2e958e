// verify.html in a browser, from a folder and without a network, as an auditor opens it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { unzipSync } from 'fflate';
import { type Browser, chromium, type Page } from 'playwright-core';
import { policyText } from '../../../src/transparency/checkpoint.js';
import { verifyCase } from '../../../src/transparency/verify-case.mjs';
import { browserArguments, pageBrowser } from '../../support/browsers.js';
import { changed, changeJson, KEYS, LogInMemory, OTHER_KEYS } from '../../support/case-files.js';
import { PATIENCE_MS } from '../../support/eventually.js';

const folder = mkdtempSync(join(tmpdir(), 'verify-page-'));
const at = (name: string): string => join(folder, name);

let browser: Browser;
let zip: Uint8Array;

beforeAll(async () => {
  const log = await LogInMemory.of(100);
  zip = await log.caseOf(log.screenings[45] ?? '');
  const tampered = changed(zip, (files) =>
    changeJson(files, 'events/271.json', (event: object) => ({ ...event, type: 'IdentityRefused' })),
  );
  writeFileSync(at('verify.html'), unzipSync(zip)['verify.html'] ?? '');
  writeFileSync(at('case.zip'), zip);
  writeFileSync(at('tampered.zip'), tampered);
  writeFileSync(at('policy'), policyText(KEYS.verifiers));
  writeFileSync(at('other-policy'), policyText(OTHER_KEYS.verifiers));
  browser = await chromium.launch({ executablePath: pageBrowser, args: browserArguments() });
});

afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

async function opened(): Promise<{ readonly page: Page; readonly requests: string[] }> {
  const context = await browser.newContext({ offline: true, viewport: { width: 400, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(pathToFileURL(at('verify.html')).href);
  return { page, requests };
}

const verdict = (page: Page): Promise<string> => page.locator('#verdict h2').innerText();
const sentences = (page: Page): Promise<string[]> => page.locator('#result li').allInnerTexts();

describe('verify.html without a network', () => {
  it('says the sentences of verify-case.mjs, and shows the proved events on a narrow screen', async () => {
    const { page, requests } = await opened();
    // The chooser of the case file is the first element that the keyboard reaches.
    await page.keyboard.press('Tab');
    const choosing = page.waitForEvent('filechooser');
    await page.keyboard.press('Enter');
    await (await choosing).setFiles(at('case.zip'));
    expect(await verdict(page)).toBe('The case file holds.');
    const report = await verifyCase(zip);
    expect(await sentences(page)).toEqual([...report.proved, ...report.open]);
    const rows = page.locator('tbody tr');
    expect(await rows.count()).toBe(6);
    expect(await rows.first().locator('td').nth(3).innerText()).toContain('Screening submitted\nnote: <b>"quoted"</b>');
    expect(await page.evaluate(() => (globalThis as any).document.documentElement.scrollWidth)).toBe(400);
    expect(requests).toEqual([pathToFileURL(at('verify.html')).href]);
    await page.context().close();
  });

  it("refuses a case file of a key that the auditor's policy does not name", async () => {
    const { page } = await opened();
    await page.setInputFiles('#policy', at('other-policy'));
    await page.setInputFiles('#zip', at('case.zip'));
    expect(await verdict(page)).toBe('The case file is REFUSED.');
    await page.setInputFiles('#policy', at('policy'));
    await page.getByText('The case file holds.').waitFor();
    expect(await sentences(page)).not.toContainEqual(expect.stringContaining('--policy'));
    await page.context().close();
  });

  it('refuses a changed case file that is dropped on the page, and shows none of its events', async () => {
    const { page } = await opened();
    const content = readFileSync(at('tampered.zip'), 'base64');
    const dropped = await page.evaluateHandle((encoded) => {
      const dom = globalThis as any;
      const transfer = new dom.DataTransfer();
      const bytes = Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
      transfer.items.add(new dom.File([bytes], 'tampered.zip'));
      return transfer;
    }, content);
    await page.dispatchEvent('h1', 'drop', { dataTransfer: dropped });
    expect(await verdict(page)).toBe('The case file is REFUSED.');
    expect(await page.locator('#result').innerText()).toContain('The file that was checked: tampered.zip');
    expect(await sentences(page)).toContain(
      'events/271.json is not in the tree: the event or its proof was changed, or it is of another case.',
    );
    expect(await page.locator('table').count()).toBe(0);
    await page.context().close();
  });
});
