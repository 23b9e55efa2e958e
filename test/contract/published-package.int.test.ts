// The npm package of the host script. The test installs the package from its tarball into an empty project, like an
// integrator.
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
const [, REACT_PAGE = ''] = /```tsx\n([^]*?)```/.exec(HOW_TO) ?? [];
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
    const { stdout } = await run('npm', ['pack', join(ROOT, 'dist-web/npm'), '--json', '--silent'], { cwd: project });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], { cwd: project });
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

  it('has the version of the API and no dependencies, and its code is the loader only', async () => {
    const folder = join(project, 'node_modules/@screening-service/embed');
    const { version, dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
    // The path of the host script begins with /embed/v1.
    expect([version, dependencies]).toEqual([expect.stringMatching(/^1\./), undefined]);
    expect((await readFile(join(folder, 'loader.mjs'), 'utf8')).length).toBeLessThan(3_000);
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

  it('has types for the React component of the how-to', async () => {
    const modules = join(project, 'node_modules');
    // Preact has the hooks and the JSX of React, and its types are installed.
    await symlink(join(ROOT, 'node_modules/preact'), join(modules, 'preact'));
    await mkdir(join(modules, 'react'));
    await writeFile(join(modules, 'react/index.d.ts'), "export * from 'preact/hooks';\n");
    for (const [name, page] of [
      ['documented', REACT_PAGE],
      ['mistaken', REACT_PAGE.replace('onScreened: (payload', 'onScreened: (payload: string, more')],
    ] as const)
      await writeFile(join(project, `${name}.tsx`), page);
    const options = ['--module', 'esnext', '--moduleResolution', 'bundler', '--jsx', 'react-jsx'];
    expect(REACT_PAGE).toContain("from 'react'");
    // The lint rules of React refuse a ref that is set while the component renders.
    expect(REACT_PAGE).not.toMatch(/^ {2}\w+\.current = /m);
    expect(REACT_PAGE).not.toMatch(/current!/);
    expect(await errorsOf(['documented.tsx', 'mistaken.tsx'], ...options, '--jsxImportSource', 'preact')).toEqual([
      expect.stringMatching(/^mistaken\.tsx/),
    ]);
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
