// The React components in a page of their own, in strict mode, which mounts every component twice.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Embedding, type HostPage } from '../../support/embedding.js';
import { until } from '../../support/eventually.js';

const ADDRESS = '12 Elm Street, Apt 4, Austin, TX 78701';
/** The page of an integrator. The test changes its properties from outside. */
const PAGE = `
import { Component, createElement as h, StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Screening, ScreeningProvider } from '@screening-service/react';

class Boundary extends Component {
  state = { message: null };
  static getDerivedStateFromError({ message }) { return { message }; }
  render() { return this.state.message === null ? this.props.children : h('p', { id: 'mistake' }, this.state.message); }
}

function Page({ wish }) {
  const [{ provider, view, round, isShown }, set] = useState({ round: 1, isShown: true, ...wish });
  globalThis.change = (more) => set((before) => ({ ...before, ...more }));
  const heard = Object.fromEntries(['onReady', 'onChange', 'onError'].map((name) => [
    name, (payload) => globalThis.told.push([name, { ...payload, round }]),
  ]));
  const shown = isShown && h(Screening, { unitAddress: '${ADDRESS}', ...heard, ...view });
  return h(Boundary, null, h(ScreeningProvider, provider, shown));
}

globalThis.told = [];
globalThis.start = (wish) => {
  globalThis.root = createRoot(document.getElementById('place'));
  globalThis.root.render(h(StrictMode, null, h(Page, { wish })));
};
`;

let embedding: Embedding;
let page: HostPage;

/** The page's script, with the development build of React, whose strict mode mounts twice. */
async function bundled(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'react-page-'));
  const entry = join(folder, 'page.js');
  writeFileSync(entry, PAGE);
  const alias = {
    '@screening-service/react': resolve('dist-web/react/screening.js'),
    '@screening-service/embed': resolve('dist-web/npm/loader.mjs'),
    'react-dom': resolve('node_modules/react-dom'),
    react: resolve('node_modules/react'),
  };
  const lib = { entry, formats: ['iife'], name: 'page' };
  const options = {
    configFile: false,
    logLevel: 'error',
    root: folder,
    resolve: { alias },
    define: { 'process.env.NODE_ENV': '"development"' },
    build: { lib: { ...lib, fileName: 'bundle' }, outDir: folder, emptyOutDir: false, minify: false },
  };
  const program = `import { build } from 'vite';
    await build({ ...${JSON.stringify(options)}, build: { ...${JSON.stringify(options.build)}, lib: { ...${JSON.stringify(lib)}, fileName: () => 'bundle.js' } } });`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, NODE_ENV: 'development', NODE_OPTIONS: '' },
  });
  const script = readFileSync(join(folder, 'bundle.js'), 'utf8');
  rmSync(folder, { recursive: true });
  return script;
}

beforeAll(async () => {
  const [opened, script] = await Promise.all([Embedding.shared(), bundled()]);
  embedding = opened;
  embedding.serving('/react', {
    html: '<!doctype html><html lang="en"><title>React</title><link rel="icon" href="data:," /><main id="place"></main><script src="/react.js"></script></html>',
  });
  embedding.serving('/react.js', { html: script, headers: { 'content-type': 'text/javascript' } });
});
afterEach(() => page?.close());
afterAll(() => embedding?.stop());

const provider = (more: object = {}): object => ({
  publishableKey: embedding.credentials.accounts.demo.publishableKey,
  baseUrl: embedding.service.baseUrl,
  ...more,
});
async function open(more: object = {}, wish: object = {}): Promise<void> {
  page = await embedding.open('/react');
  await page.page.evaluate((given) => (globalThis as any).start(given), { provider: provider(more), ...wish });
}
const change = (more: object): Promise<void> =>
  page.page.evaluate((given) => (globalThis as any).change(given), more as any);
const frames = (): Promise<number> => page.page.locator('iframe').count();
const exchanges = (): number =>
  page.requests.filter(({ method, url }) => method === 'POST' && url.endsWith('/auth/token/exchange')).length;
const scripts = (): number => page.requests.filter(({ url }) => url.endsWith('/embed/v1/service.js')).length;
const complaints = (): string[] => page.console.filter((line) => /^(?:error|warning|uncaught)/.test(line));

it('in strict mode, one frame is made with one token, from one script', async () => {
  await open();
  expect(await page.hears('onReady')).toEqual({ view: 'screening', round: 1 });
  await page.frame.getByLabel('First name').waitFor();
  expect([await frames(), exchanges(), scripts()]).toEqual([1, 1, 1]);
  expect(complaints()).toEqual([]);
});

it('a new language and appearance change the open view, which keeps the typed text', async () => {
  await open({ locale: 'en' });
  await page.frame.getByLabel('First name').fill('Robin');
  await change({ provider: provider({ locale: 'es', appearance: { theme: 'dark' } }) });
  const field = page.frame.getByLabel('Nombre', { exact: true });
  await field.waitFor();
  expect(await field.inputValue()).toBe('Robin');
  await change({ provider: provider() });
  await page.frame.getByLabel('First name').waitFor();
  expect([await frames(), exchanges(), (await page.told()).filter(([name]) => name === 'onReady').length]).toEqual([
    1, 1, 1,
  ]);
});

it('another render calls the newest function, and mounts nothing again', async () => {
  await open();
  await page.hears('onReady');
  await change({ round: 2, view: { prefill: undefined } });
  await page.frame.getByLabel('First name').fill('Robin');
  expect(await page.hears('onChange')).toMatchObject({ step: 'details', round: 2 });
  expect([await frames(), exchanges()]).toEqual([1, 1]);
});

it('another option mounts the view again, in one frame', async () => {
  await open();
  await page.hears('onReady');
  await change({ view: { unitAddress: '14 Elm Street' } });
  await page.hears('onReady', 2);
  expect([await frames(), exchanges(), complaints()]).toEqual([1, 1, []]);
});

it('another key makes another instance, and the view begins again', async () => {
  await open();
  await page.hears('onReady');
  const { publishableKey } = embedding.credentials.accounts.nopay;
  await change({ provider: provider({ publishableKey }), view: { unitAddress: '14 Elm Street' } });
  await page.hears('onReady', 2);
  expect([await frames(), exchanges(), scripts(), complaints()]).toEqual([1, 2, 1, []]);
});

it('a view that is hidden and shown again has one frame, and none after the page has removed it', async () => {
  await open();
  await page.hears('onReady');
  await change({ isShown: false });
  await until('the frame is gone', async () => (await frames()) === 0);
  await change({ isShown: true });
  await page.hears('onReady', 2);
  expect(await frames()).toBe(1);
  await page.page.evaluate(() => (globalThis as any).root.unmount());
  await until('the frame is gone', async () => (await frames()) === 0);
  expect(complaints()).toEqual([]);
});

it('a mistake in an option is thrown while rendering', async () => {
  await open({ publishableKey: 'pk_test_short' });
  const mistake = page.page.locator('#mistake');
  await mistake.waitFor();
  expect(await mistake.textContent()).toMatch(/^publishableKey must be/);
});

it('another address of the service is a mistake in the options, and no failure of the script', async () => {
  await open();
  await page.hears('onReady');
  await change({ provider: provider({ baseUrl: `${embedding.hostOrigin}/nowhere` }) });
  const mistake = page.page.locator('#mistake');
  await mistake.waitFor();
  expect(await mistake.textContent()).toMatch(/^The page has already loaded /);
  expect((await page.told()).filter(([name]) => name === 'onError')).toEqual([]);
});

it('a script that cannot be loaded is reported to onError', async () => {
  await open({ baseUrl: `${embedding.hostOrigin}/nowhere` });
  expect(await page.hears('onError')).toEqual({
    code: 'SCRIPT_LOAD_FAILED',
    message: `The script ${embedding.hostOrigin}/nowhere/embed/v1/service.js could not be loaded.`,
    recoverable: false,
    round: 1,
  });
});
