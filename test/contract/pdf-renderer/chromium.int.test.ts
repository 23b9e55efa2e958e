import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deflateSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ChromiumPdfRenderer, ChromiumPdfRendererOptions } from '../../../src/adapters/pdf-renderer/chromium.js';
import { PageTurns } from '../../../src/adapters/pdf-renderer/page-turns.js';
import type { PageSource, RenderedPdf } from '../../../src/ports/pdf-renderer.js';
import {
  aRenderer,
  browserProcesses,
  browsers,
  browserWithPage,
  kill9,
  mark,
  marksIn,
  noPageIsLeft,
  pageBrowser,
  pages,
  processesBelow,
  SPINNING,
  textOf,
} from '../../support/browsers.js';
import { until } from '../../support/eventually.js';

/** An image of a unique size, so that a PDF with it can be recognised. */
const IMAGE = pngOf(37, 41);
const IMAGE_URL = `data:image/png;base64,${IMAGE.toString('base64')}`;
const IMAGE_IN_PDF = /\/Width 37\s+\/Height 41/;

function pngOf(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const checked = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(checked));
    return Buffer.concat([length, checked, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Red, green and blue with eight bits each.
  header.set([8, 2], 8);
  const rows = Buffer.concat(
    Array.from({ length: height }, (_, row) => Buffer.concat([Buffer.of(0), Buffer.alloc(width * 3, row * 5)])),
  );
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function crc32(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}

describe('PDFs from Chromium', () => {
  let renderers: ChromiumPdfRenderer[] = [];
  /** Tests that only check printed pages share this renderer, because a browser takes longer to start than to print. */
  let printer: ChromiumPdfRenderer | null = null;
  const open = (options: Partial<ChromiumPdfRendererOptions> = {}): ChromiumPdfRenderer => {
    const renderer = aRenderer(options);
    renderers.push(renderer);
    return renderer;
  };
  /** Opens a renderer alone, so that every observed browser belongs to this renderer. */
  const openAlone = async (options: Partial<ChromiumPdfRendererOptions> = {}): Promise<ChromiumPdfRenderer> => {
    await printer?.close();
    printer = null;
    return open(options);
  };
  const print = (html: string): Promise<RenderedPdf> => (printer ??= aRenderer()).render(html, 'live');
  afterEach(async () => {
    await Promise.all(renderers.map((renderer) => renderer.close()));
    renderers = [];
  });
  afterAll(() => printer?.close());

  it('tags the text of a page, and names its language', async () => {
    const pdf = textOf(await print('<!doctype html><html lang="es"><title>Informe</title><h1>Uno</h1><p>Dos</p>'));
    expect(pdf).toMatch(/\/Marked true/);
    expect(pdf).toContain('/StructTreeRoot');
    expect(pdf).toMatch(/\/Lang \(es\)/);
  });

  it('starts no browser before the first page, uses one browser for all pages, and leaves no process behind', async () => {
    const renderer = await openAlone();
    expect(await browsers()).toEqual([]);
    expect(textOf(await renderer.render(mark('one'), 'live'))).toMatch(/^%PDF-/);
    const [pid, ...others] = await browsers();
    expect(others).toEqual([]);
    await Promise.all([renderer.render(mark('two'), 'live'), renderer.render(mark('three'), 'live')]);
    expect(await browsers()).toEqual([pid]);
    // The process of a page received the signal to end, and ends a moment later.
    await noPageIsLeft();
    const profile = /--user-data-dir=(\S+)/.exec((await browserProcesses())[0]!.command)![1]!;
    expect(existsSync(profile)).toBe(true);
    await renderer.close();
    expect(await browsers()).toEqual([]);
    expect(existsSync(profile)).toBe(false);
    expect(await renderer.render(mark('late'), 'live')).toEqual({ kind: 'unavailable' });
  });

  it('prints a Letter page with its backgrounds, and images that are part of it', async () => {
    const pdf = textOf(
      await print(`<!doctype html><body style="background:#123456">${mark('text')}<img src="${IMAGE_URL}">`),
    );
    expect(pdf).toMatch(/\/MediaBox \[0 0 612 792\]/);
    expect(marksIn(pdf)).toEqual(['text']);
    expect(pdf).toMatch(IMAGE_IN_PDF);
  });

  it('keeps the title of a served page; the title of a foreign page says that it is not a report', async () => {
    const titled = '<title>Report</title>';
    const titleOf = async (html: string, source?: PageSource): Promise<string | undefined> =>
      /\/Title \((.*)\)/.exec(textOf(await (printer ??= aRenderer()).render(html, 'live', source)))?.[1];
    expect(await titleOf(`<!doctype html>${titled}<p>x`, 'served')).toBe('Report');
    for (const page of [titled, `<!doctype html><html><head>${titled}</head>`, `<svg>${titled}</svg>${titled}`, 'x'])
      expect([page, await titleOf(page)]).toEqual([page, 'Not a report: this page was given to be printed']);
  });

  it('prints two megabytes and arbitrary text', async () => {
    const rows = `<p>ä € 漢字 \u{1F600}</p>`.repeat(500);
    expect(marksIn(textOf(await print(`<!-- ${'x'.repeat(2_000_000)} -->${rows}${mark('end')}`)))).toEqual(['end']);
  });

  it('prints parts that are shown only on paper, and resources inside the page, without a layout for the screen', async () => {
    const shown = `<style>:root{display:block!important} div{background:url(${IMAGE_URL});width:37px;height:41px} @media screen{div{background:none}}</style><div></div>`;
    expect(textOf(await print(`<!doctype html>${shown}${mark('end')}`))).toMatch(IMAGE_IN_PDF);
  });

  it('returns no PDF above its size limit', async () => {
    const small = aRenderer({ mostBytes: 60_000 });
    try {
      const circles = (many: number): Promise<RenderedPdf> =>
        small.render(`<svg>${'<circle cx="50" cy="50" r="9" filter="blur(3px)"/>'.repeat(many)}</svg>`, 'live');
      expect([(await circles(1)).kind, (await circles(100)).kind]).toEqual(['pdf', 'too-large']);
    } finally {
      await small.close();
    }
  });

  it('runs no script of a page', async () => {
    const script = `document.body.innerHTML = '${mark('script-ran')}'`;
    const html = `<body onload="${script.replaceAll('"', '&quot;')}">${mark('original')}<noscript>${mark('no-script')}</noscript><script>${script}</script>
      <script type="module">${script}</script><img src="x" onerror="${script.replaceAll('"', '&quot;')}">
      <iframe srcdoc="<script>parent.${script.replaceAll('"', '&quot;')}</script>"></iframe><a href="javascript:${encodeURI(script)}" autofocus>x</a>
      <svg onload="${script.replaceAll('"', '&quot;')}"><script>${script}</script></svg><object data="data:text/html,<script>parent.${encodeURI(script)}</script>"></object>`;
    const marks = marksIn(textOf(await print(html)));
    expect(marks).toEqual(expect.arrayContaining(['original', 'no-script']));
    expect(marks).not.toContain('script-ran');
  });

  it('shows no local file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pdf-files-'));
    try {
      writeFileSync(join(folder, 'image.png'), IMAGE);
      writeFileSync(join(folder, 'page.html'), mark('from-file'));
      writeFileSync(join(folder, 'style.css'), `body::after { content: url(${IMAGE_URL}) }`);
      const at = `file://${folder}`;
      const html = `<base href="${at}/"><link rel="stylesheet" href="${at}/style.css"><style>@import "${at}/style.css"; body { background: url(${at}/image.png) }</style>${mark('original')}
        <img src="${at}/image.png"><img src="image.png"><iframe src="${at}/page.html"></iframe><object data="${at}/page.html"></object><embed src="${at}/page.html">
        <svg><image href="${at}/image.png" width="9" height="9"/><use href="${at}/page.html#x"/></svg><meta http-equiv="refresh" content="0;url=${at}/page.html">`;
      const pdf = textOf(await print(html));
      expect(marksIn(pdf)).toEqual(['original']);
      expect(pdf).not.toMatch(IMAGE_IN_PDF);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  describe('without a network', () => {
    let server: Server;
    let connections = 0;
    let origin = '';
    beforeAll(async () => {
      server = createServer((_, response) => response.end(mark('from-network')));
      server.on('connection', () => (connections += 1));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      origin = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      await (await fetch(`http://${origin}/control`)).text();
      expect(connections).toBe(1);
    });
    beforeEach(() => {
      connections = 0;
    });
    afterAll(() => {
      server.closeAllConnections();
      server.close();
    });

    it('reaches no server, whatever the page requests', async () => {
      const asks = [origin, origin.replace('127.0.0.1', 'localhost')].map(
        (
          host,
        ) => `<meta http-equiv="refresh" content="0;url=http://${host}/refresh"><meta http-equiv="x-dns-prefetch-control" content="on">
          <link rel="preconnect" href="http://${host}"><link rel="dns-prefetch" href="//${host}"><link rel="prefetch" href="http://${host}/prefetch"><link rel="prerender" href="http://${host}/prerender">
          <link rel="preload" as="image" href="http://${host}/preload"><link rel="modulepreload" href="http://${host}/module"><link rel="icon" href="http://${host}/icon"><link rel="manifest" href="http://${host}/manifest">
          <link rel="stylesheet" href="http://${host}/style"><style>@import "http://${host}/import"; @font-face { font-family: f; src: url(http://${host}/font) } body { font-family: f; background: url(http://${host}/bg); cursor: url(http://${host}/cursor), auto }</style>
          <script type="speculationrules">{"prefetch":[{"source":"list","urls":["http://${host}/speculation"]}]}</script><script src="http://${host}/script"></script><script>new WebSocket("ws://${host}/socket"); fetch("http://${host}/fetch")</script>
          <img src="http://${host}/img"><img srcset="http://${host}/srcset 2x"><picture><source srcset="http://${host}/source"><img></picture><iframe src="http://${host}/frame"></iframe><iframe srcdoc='<img src="http://${host}/inner">'></iframe>
          <iframe src='data:text/html,<img src="http://${host}/data-frame">'></iframe><object data="http://${host}/object"></object><embed src="http://${host}/embed"><video src="http://${host}/video" poster="http://${host}/poster"></video><audio src="http://${host}/audio"></audio>
          <svg><image href="http://${host}/svg"/><use href="http://${host}/use#x"/></svg><img src='data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><image href="http://${host}/nested"/></svg>'><form action="http://${host}/form"><input type="image" src="http://${host}/input"></form>
          <a href="http://${host}/ping" ping="http://${host}/pinged">x</a><p style="background:url(ftp://${host}/ftp)">x</p>`,
      );
      const renderer = await openAlone();
      const pdf = textOf(await renderer.render(`<!doctype html>${asks.join('')}${mark('original')}`, 'live'));
      expect(marksIn(pdf)).toContain('original');
      expect(marksIn(pdf)).not.toContain('from-network');
      // Anything that the browser does by itself has happened before the browser ends.
      await renderer.close();
      expect(connections).toBe(0);
    });

    it('prints the page itself when it redirects to another address or to itself', async () => {
      for (const target of [`http://${origin}/`, 'http://page.invalid/', '', 'data:text/html,elsewhere']) {
        const pdf = textOf(await print(`<meta http-equiv="refresh" content="0;url=${target}">${mark('original')}`));
        expect([target, marksIn(pdf)]).toEqual([target, ['original']]);
      }
      expect(connections).toBe(0);
    });
  });

  it('keeps the pages of different calls apart', async () => {
    const names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'];
    const printed = await Promise.all(names.map((name) => print(mark(name))));
    expect(printed.map((pdf) => marksIn(textOf(pdf)))).toEqual(names.map((name) => [name]));
  });

  it('ends the PDF process of a page that takes too long, and still prints another page at the same time', async () => {
    const renderer = await openAlone({ limitMs: 20_000 });
    await renderer.render('', 'live');
    const spoilt = await browsers();
    const [beside, late] = await Promise.all([
      renderer.render(mark('beside'), 'live'),
      renderer.render(`<p style="white-space:nowrap">${'word '.repeat(390_000)}`, 'live'),
    ]);
    expect([marksIn(textOf(beside)), late]).toEqual([['beside'], { kind: 'timed-out' }]);
    await until(
      'the browser and its PDF process are gone',
      async () =>
        !(await browsers()).some((pid) => spoilt.includes(pid)) &&
        !(await processesBelow(process.pid)).some(({ command }) => command.includes('PrintCompositor')),
    );
  });

  it('prints a page again in a new browser when its browser was killed', async () => {
    const renderer = await openAlone({ limitMs: 25_000 });
    const rendering = renderer.render(`${'<p>x</p>'.repeat(10_000)}${mark('end')}`, 'live');
    kill9(await browserWithPage());
    expect(marksIn(textOf(await rendering))).toEqual(['end']);
  });

  it('is unavailable when browsers keep dying under a page, and works again afterwards', async () => {
    const renderer = await openAlone();
    const rendering = renderer.render(SPINNING, 'live');
    const first = await browserWithPage();
    kill9(first);
    const second = await browserWithPage(first);
    kill9(second);
    expect(await rendering).toEqual({ kind: 'unavailable' });
    expect(marksIn(textOf(await renderer.render(mark('again'), 'live')))).toEqual(['again']);
    await renderer.close();
    expect(await browsers()).toEqual([]);
  });

  it('prints a live page while test pages use every turn and waiting place of test pages', async () => {
    const renderer = open({ pagesAtOnce: 1, waitingAtMost: 0, limitMs: 8_000 });
    const spinning = renderer.render(SPINNING, 'test');
    expect(await renderer.render(mark('one-too-many'), 'test')).toEqual({ kind: 'unavailable' });
    expect(marksIn(textOf(await renderer.render(mark('live'), 'live')))).toEqual(['live']);
    expect(await spinning).toEqual({ kind: 'timed-out' });
  });

  it('prints a served page while foreign pages use every turn and waiting place of foreign pages', async () => {
    const renderer = open({ pagesAtOnce: 1, waitingAtMost: 0, limitMs: 8_000 });
    const spinning = renderer.render(SPINNING, 'live', 'foreign');
    expect(await renderer.render(mark('one-too-many'), 'live', 'foreign')).toEqual({ kind: 'unavailable' });
    expect(marksIn(textOf(await renderer.render(mark('served'), 'live', 'served')))).toEqual(['served']);
    expect(await spinning).toEqual({ kind: 'timed-out' });
  });

  it('survives when the process of a page dies', async () => {
    const renderer = await openAlone();
    const rendering = renderer.render(SPINNING, 'live');
    let done = false;
    void rendering.finally(() => (done = true));
    while (!done) for (const pid of await pages()) kill9(pid);
    // When the process dies with its page open, the page seems to have taken too much memory. When the process dies
    // earlier, the browser seems broken. When it dies while the page opens, the browser reports nothing, and the time
    // limit passes.
    expect(['unavailable', 'too-large', 'timed-out']).toContain((await rendering).kind);
    expect(marksIn(textOf(await renderer.render(mark('again'), 'live')))).toEqual(['again']);
  });

  it("runs in the browser's sandbox, never as root, and has ended after its trial", async () => {
    const renderer = await openAlone();
    await renderer.check();
    await renderer.close();
    // The process received the signal to end, and ends a moment later.
    await until('the browser is gone', async () => (await browsers()).length === 0);
    const next = open();
    const rendering = next.render(SPINNING, 'live');
    await browserWithPage();
    const all = await processesBelow(process.pid);
    const chromium = all.filter(
      ({ command }) => command.includes('--type=') || command.includes('--remote-debugging-pipe'),
    );
    expect(chromium.filter(({ command }) => command.includes('--no-sandbox'))).toEqual([]);
    const status = (pid: number, field: string): string[] =>
      (new RegExp(`^${field}:\\s+(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '').split(
        /\s+/,
      );
    for (const { pid } of chromium.filter(({ pid }) => existsSync(`/proc/${pid}/status`)))
      expect(status(pid, 'Uid')).not.toContain('0');
    const [page = 0] = await pages();
    // The page runs with filtered system calls and in its own namespaces of process ids and users.
    expect(status(page, 'Seccomp')).toEqual(['2']);
    expect(status(page, 'NSpid').length).toBeGreaterThan(1);
    kill9((await browsers())[0]!);
    kill9(await browserWithPage((await browsers())[0]));
    await rendering;
  });

  it('gives the browser no environment variables of the service except the folders of programs', async () => {
    if (!existsSync('/proc/self/environ')) return;
    const renderer = await openAlone();
    await renderer.render('', 'live');
    const [pid] = await browsers();
    const given = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter(Boolean)
      .map((entry) => entry.split('=')[0]!);
    // The service's variables hold secrets. The other variables here come from a start script of the browser.
    expect(given).toEqual(expect.arrayContaining(['PATH', 'HOME']));
    for (const name of Object.keys(process.env))
      if (!['PATH', 'HOME', 'LANG', 'TMPDIR', 'PWD', 'SHLVL', '_', 'LD_LIBRARY_PATH'].includes(name))
        expect(given).not.toContain(name);
    const home = /(?:^|\0)HOME=([^\0]+)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))![1]!;
    expect(home).not.toBe(process.env['HOME']);
    await renderer.close();
    expect(existsSync(home)).toBe(false);
  });

  it('gives the reason when no browser is found or the browser does not start', async () => {
    const reasons: unknown[] = [];
    const notStarted = (error: unknown): void => void reasons.push(error);
    expect(await open({ executablePath: '/no/such/browser', notStarted }).render(mark('a'), 'live')).toEqual({
      kind: 'no-browser',
    });
    expect(await open({ executablePath: null, searchPath: tmpdir(), notStarted }).render(mark('a'), 'live')).toEqual({
      kind: 'no-browser',
    });
    expect(await open({ executablePath: '/bin/false', notStarted }).render(mark('a'), 'live')).toEqual({
      kind: 'no-browser',
    });
    await open({ executablePath: '/bin/false', notStarted }).check();
    expect(reasons).toEqual(Array.from({ length: 4 }, () => expect.any(Error)));
  });

  it('refuses a browser that a start script has started and waits for, and gives the reason', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'started-'));
    chmodSync(folder, 0o755);
    const script = join(folder, 'start');
    writeFileSync(script, `#!/bin/sh\n'${pageBrowser}' "$@"\n`, { mode: 0o755 });
    const reasons: string[] = [];
    const notStarted = (error: unknown): void => void reasons.push((error as Error).message);
    const renderer = open({ executablePath: script, notStarted });
    expect(await renderer.render(mark('a'), 'live')).toEqual({ kind: 'no-browser' });
    expect(reasons).toEqual([expect.stringContaining('a script has started it')]);
    await renderer.close();
    await until('the browser is gone', async () => (await browsers()).length === 0);
    rmSync(folder, { recursive: true });
  });
});

describe('the turns of pages at the browser', () => {
  it('are at most the allowed number at once, in the order of arrival, even after a failure', async () => {
    const turns = new PageTurns(2, 3);
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const taken = Array.from({ length: 6 }, (_, at) =>
      turns.take(async () => {
        begun.push(at);
        await new Promise<void>((resolve) => (ends[at] = resolve));
        if (at === 0) throw new Error('failed');
        return at;
      }),
    );
    expect(await taken[5]).toBeNull();
    expect(begun).toEqual([0, 1]);
    ends[0]!();
    await expect(taken[0]).rejects.toThrow('failed');
    await nextTurn();
    expect(begun).toEqual([0, 1, 2]);
    ends[2]!();
    expect(await taken[2]).toBe(2);
    await nextTurn();
    expect(begun).toEqual([0, 1, 2, 3]);
    turns.end();
    expect(await taken[4]).toBeNull();
    expect(await turns.take(() => Promise.resolve('late'))).toBeNull();
    ends[1]!();
    ends[3]!();
    expect(await Promise.all([taken[1], taken[3]])).toEqual([1, 3]);
  });
});
