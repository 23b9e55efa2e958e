// The npm packages for pages: the loader of the host script, and the React components. The test installs the packages
// from their tarballs into an empty project, like an integrator.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

const PAGE = `import { loadScreening, Service, type CallbackPayloads, type ServiceInstance } from '@screening-service/embed';
const loaded: typeof Service = await loadScreening('https://api.example.test');
void loaded.init('pk_test_0123456789abcdef');
const instance: ServiceInstance = await Service.init('pk_test_0123456789abcdef', { baseUrl: 'https://api.example.test' });
const shared: CallbackPayloads['onReportShared'][] = [];
const stop = instance.on('onReportShared', (payload) => void shared.push(payload));
const view = await instance.mount('screening', {
  element: document.body,
  unitAddress: { address: '12 Elm Street', city: 'Austin', state: 'TX', zip: '78701' },
  onPaymentSuccess: ({ amount, currency }) => console.log(amount.toFixed(2), currency.toUpperCase()),
  onError: ({ code, recoverable }) => console.log(code, recoverable === true),
});
view.unmount();
stop();
`;
const TAG_PAGE = "void window.Service.init('pk_test_0123456789abcdef').then((instance) => instance.destroy());\n";
const withOption = (option: string): string =>
  PAGE.replace('element: document.body,', `element: document.body, ${option},`);
const HOW_TO = readFileSync(join(ROOT, 'docs/how-to/embed-the-component.md'), 'utf8');
const PAGES: Readonly<Record<string, string>> = {
  right: PAGE,
  payload: withOption('onReady: ({ view }: { view: number }) => view'),
  field: withOption('onReady: ({ ssn }) => ssn'),
  name: withOption('onReadyy: () => undefined'),
  option: withOption("applicationFee: '100'"),
  tag: `/// <reference types="@screening-service/embed/global" />\n${TAG_PAGE}`,
  untyped: TAG_PAGE,
};

describe('the package', () => {
  let project: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'embed-package-'));
    await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'page', private: true, type: 'module' }));
    for (const [name, page] of Object.entries(PAGES)) await writeFile(join(project, `${name}.ts`), page);
    const folders = ['dist-web/npm', 'dist-web/react'].map((folder) => join(ROOT, folder));
    const { stdout } = await run('npm', ['pack', ...folders, '--json', '--silent'], { cwd: project });
    const packed = JSON.parse(stdout) as { readonly filename: string }[];
    const tarballs = packed.map(({ filename }) => `./${filename}`);
    // npm would ask the registry for React, which is linked below.
    const options = ['--offline', '--no-audit', '--no-fund', '--legacy-peer-deps'];
    await run('npm', ['install', ...options, ...tarballs], { cwd: project });
    const modules = join(project, 'node_modules');
    await mkdir(join(modules, '@types'));
    for (const name of ['react', '@types/react']) await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  });
  afterAll(() => rm(project, { recursive: true, force: true }));

  /** The errors of the strict compiler for each page: the error number and the symbol that the error names. */
  async function errorsOf(pages: readonly string[], ...resolution: string[]): Promise<string[]> {
    const args = [
      '--strict',
      '--skipDefaultLibCheck',
      '--exactOptionalPropertyTypes',
      '--noEmit',
      '--pretty',
      'false',
      '--target',
      'es2022',
    ];
    const { stdout } = await run(
      process.execPath,
      [join(ROOT, 'node_modules/typescript/bin/tsc'), ...args, ...resolution, ...pages],
      { cwd: project },
    ).catch((failure: { stdout: string }) => failure);
    return stdout.split('\n').filter((line) => /^\S/.test(line));
  }

  it.each([
    ['embed', undefined],
    // A page has one loader, and npm installs a peer from its tarball in the same command.
    ['react', { '@screening-service/embed': '^1.0.0', react: '>=18' }],
  ])('%s has the version of the API, and needs no other package', async (name, peerDependencies) => {
    const file = join(project, 'node_modules/@screening-service', name, 'package.json');
    const manifest = JSON.parse(await readFile(file, 'utf8')) as object;
    // The path of the host script begins with /embed/v1.
    expect(manifest).toMatchObject({ version: expect.stringMatching(/^1\./), license: 'UNLICENSED' });
    expect((manifest as { peerDependencies?: object }).peerDependencies).toEqual(peerDependencies);
    expect(manifest).not.toHaveProperty('dependencies');
  });

  it('embed has the loader only, so that a page always runs the script of its service', async () => {
    const loader = await readFile(join(project, 'node_modules/@screening-service/embed/loader.mjs'), 'utf8');
    expect(loader.length).toBeLessThan(3_000);
    expect(loader).not.toContain('iframe');
  });

  it('has types for pages whose imports a bundler resolves, and refuses unknown callbacks, payloads and options', async () => {
    const pages = ['right', 'payload', 'field', 'name', 'option', 'tag'].map((name) => `${name}.ts`);
    expect(await errorsOf(pages, '--module', 'esnext', '--moduleResolution', 'bundler')).toEqual([
      expect.stringMatching(/^field\.ts.*'ssn'/),
      expect.stringMatching(/^name\.ts.*'onReadyy'/),
      expect.stringMatching(/^option\.ts.*'number'/),
      expect.stringMatching(/^payload\.ts.*view: number.*readonly view: View/),
    ]);
  });

  it('has types for React components, and refuses unknown options, missing options and wrong payloads', async () => {
    const [, documented = ''] = /```tsx\n([^]*?)```/.exec(HOW_TO) ?? [];
    const [, inReadme = ''] =
      /```tsx\n([^]*?)```/.exec(readFileSync(join(ROOT, 'packages/react/README.md'), 'utf8')) ?? [];
    const view = (options: string): string =>
      `import { Screening } from '@screening-service/react';\nexport const view = <Screening ${options} />;\n`;
    const pages = {
      documented,
      inReadme,
      income: view('view="income" onIncomeReportComplete={({ route }) => console.log(route)}'),
      address: view(''),
      option: view('unitAddress="12 Elm Street" selector="#place"'),
      payload: view('unitAddress="12 Elm Street" onReady={({ ssn }) => ssn}'),
      report: view('view="report"'),
      provider: documented.replace('baseUrl="https://api.example.com"', ''),
    };
    for (const [name, page] of Object.entries(pages)) await writeFile(join(project, `${name}.tsx`), page);
    const files = Object.keys(pages).map((name) => `${name}.tsx`);
    const options = ['--module', 'esnext', '--moduleResolution', 'bundler', '--jsx', 'react-jsx'];
    const errors = await errorsOf(files, ...options);
    expect(errors.map((error) => error.slice(0, error.indexOf('('))).sort()).toEqual([
      'address.tsx',
      'option.tsx',
      'payload.tsx',
      'provider.tsx',
      'report.tsx',
    ]);
    expect(errors.join('\n')).toMatch(/option\.tsx.*selector: string/);
    expect(errors.join('\n')).toMatch(/payload\.tsx.*'ssn'/);
    expect(errors.join('\n')).toMatch(/provider\.tsx.*'baseUrl'/);
  });

  it('can be rendered on a server, where the component is an empty element', async () => {
    await symlink(join(ROOT, 'node_modules/react-dom'), join(project, 'node_modules/react-dom'));
    await writeFile(
      join(project, 'rendered.js'),
      `import { createElement } from 'react';
       import { renderToString } from 'react-dom/server';
       import { Screening, ScreeningProvider } from '@screening-service/react';
       const view = createElement(Screening, { unitAddress: '12 Elm Street' });
       const options = { publishableKey: 'pk_test_0123456789abcdef', baseUrl: 'https://api.example.test' };
       console.log(renderToString(createElement(ScreeningProvider, options, view)));`,
    );
    // Node would otherwise look for react beside the target of its link.
    const { stdout } = await run(process.execPath, ['--preserve-symlinks', 'rendered.js'], { cwd: project });
    expect(stdout.trim()).toBe('<div></div>');
  });

  it('has types for pages whose imports Node resolves, and declares the global of the script tag only for a page that requests it', async () => {
    expect(
      await errorsOf(['right.ts', 'untyped.ts'], '--module', 'nodenext', '--moduleResolution', 'nodenext'),
    ).toEqual([expect.stringMatching(/^untyped\.ts.*'Service'/), expect.stringMatching(/^untyped\.ts.*'instance'/)]);
  });

  it('can be imported without a page, and reports that the address of the service is missing', async () => {
    await writeFile(
      join(project, 'server.js'),
      `import { Service } from '@screening-service/embed';
       Service.init('pk_test_0123456789abcdef').catch((error) => console.log(error.message, Object.keys(error).length));`,
    );
    const { stdout } = await run(process.execPath, ['server.js'], { cwd: project });
    expect(stdout.trim()).toBe('baseUrl is needed, because the script was not loaded from the service. 0');
  });
});
