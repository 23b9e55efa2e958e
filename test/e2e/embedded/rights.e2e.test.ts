// The view `rights` of the component: the person sees who has looked at the report, and stops a share by keyboard alone.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { ONE_PROCESS } from '../../support/browsers.js';
import { Embedding, type HostPage } from '../../support/embedding.js';
import type { PlatformCaller } from '../../support/service.js';

let axe: string;
let embedding: Embedding;
let caller: PlatformCaller;
let host: HostPage;

beforeAll(async () => {
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  embedding = await Embedding.start({}, { isolation: ONE_PROCESS });
  caller = await embedding.service.signIn('nopay');
});
afterAll(() => embedding?.stop());
afterEach(async () => host?.close());

const heading = (name: string): Locator => host.frame.getByRole('heading', { name, exact: true });
const button = (name: string): Locator => host.frame.getByRole('button', { name, exact: true });

async function read(times: number): Promise<string> {
  const { id } = (await caller.submit({ purpose: 'LEASE_RENEWAL' })).body;
  for (let time = 0; time < times; time += 1) await caller.get(`/reports/${id}`);
  return id;
}

async function findings(): Promise<string[]> {
  return host.page.evaluate(async () => {
    const options = { rules: { 'target-size': { enabled: true } }, pingWaitTime: 60_000 };
    const { violations } = await (globalThis as any).axe.run(options);
    return violations.flatMap(({ id, nodes }: any) => nodes.map(({ html }: any) => `${id}: ${html.slice(0, 200)}`));
  });
}

const isWider = (): Promise<boolean> =>
  host.frame
    .locator('body')
    .evaluate(({ ownerDocument: { documentElement: root } }: any) => root.scrollWidth > root.clientWidth);

async function picture(name: string): Promise<void> {
  const folder = process.env['PICTURES'];
  if (folder !== undefined) await host.page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

describe('the view rights', () => {
  it('shows who has looked and why, and stops a share by keyboard, in both themes', async () => {
    const id = await read(7);
    expect((await caller.post(`/reports/${id}/consent-to-share`)).status).toBe(200);
    host = await embedding.open('/', { reducedMotion: 'reduce' });
    await host.page.addInitScript({ content: `${axe}; axe.configure({ allowedOrigins: ['<unsafe_all_origins>'] })` });
    await host.page.reload();
    await host.mount({ account: 'nopay', view: 'rights', options: { screeningId: id } });
    for (const title of ['Who has looked', 'With whom it is shared', 'Where the data came from', 'Your rights'])
      await heading(title).waitFor();
    const looks = host.frame.getByText('On a page of Demo account nopay. You may have looked yourself.');
    expect(await looks.count()).toBe(5);
    await host.press(button('Show all 7'));
    expect(await looks.count()).toBe(7);
    expect(await host.frame.getByText('Purpose: to renew a lease').count()).toBe(7);
    expect(await findings()).toEqual([]);
    await picture('rights-light');
    await host.page.emulateMedia({ colorScheme: 'dark' });

    const stop = button('Stop sharing with Demo account nopay');
    await stop.focus();
    await host.page.keyboard.press('Enter');
    await button('Keep sharing').waitFor();
    expect(await findings()).toEqual([]);
    await picture('rights-stop-dark');
    // The question has the focus. The safe answer comes first.
    await host.page.keyboard.press('Tab');
    await host.page.keyboard.press('Enter');
    await stop.waitFor();
    await host.page.keyboard.press('Enter');
    await button('Keep sharing').waitFor();
    await host.page.keyboard.press('Tab');
    await host.page.keyboard.press('Tab');
    await host.page.keyboard.press('Enter');
    expect(await host.hears('onReportRevoked')).toMatchObject({ sessionId: id });
    await host.frame.getByText(/^Stopped on /).waitFor();
    expect(await stop.count()).toBe(0);
    // The pressed button has disappeared, and the list has the focus.
    await host.frame.locator('h2:focus').getByText('With whom it is shared').waitFor();
    expect(await host.hears('onStepStart')).toEqual({ step: 'rights' });
  });

  it('fits into 320 pixels in Spanish, and says what is not there yet', async () => {
    const id = await read(0);
    host = await embedding.open('/', { viewport: { width: 320, height: 640 } });
    await host.mount({ account: 'nopay', view: 'rights', options: { screeningId: id }, init: { locale: 'es' } });
    await heading('Sus derechos').waitFor();
    await host.frame.getByText('Nadie ha consultado su informe todavía.').waitFor();
    await host.frame.getByText('Su informe no se comparte con nadie.').waitFor();
    expect(await isWider()).toBe(false);
    await picture('rights-320-es');
  });
});
