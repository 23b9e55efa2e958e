// Pages that keep browsers busy by their size, number or kind. Each page is printed, or is ended in time. Other pages
// that are printed at the same time or later are not affected.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ChromiumPdfRenderer, ChromiumPdfRendererOptions } from '../../src/adapters/pdf-renderer/chromium.js';
import { aRenderer, mark, marksIn, noPageIsLeft, processesBelow, SPINNING, textOf } from '../support/browsers.js';

/** Pages that keep a browser busy for minutes: while it loads them, or while it prints them. */
const ENDLESS = {
  printing: SPINNING,
  loading: `<svg><defs><g id="a0"><rect width="1" height="1"/></g>${Array.from({ length: 12 }, (_, at) => `<g id="a${at + 1}">${`<use href="#a${at}" x="1"/>`.repeat(10)}</g>`).join('')}</defs><use href="#a12"/></svg>`,
  'a large table': `<table>${`<tr>${'<td>x</td>'.repeat(50)}</tr>`.repeat(2_700)}</table>`,
};

const unbroken = (length: number): string => 'x'.repeat(length);

/** Pages that Chromium alone would not finish within any limit. */
const LARGE = {
  'a word of 300,000 characters': unbroken(300_000),
  'a word of 1,990,000 characters': unbroken(1_990_000),
  'such a word in a cell': `<table><tr><td>${unbroken(300_000)}</td></tr></table>`,
  'such a word in text that keeps its lines': `<pre>${unbroken(300_000)}</pre>`,
};

/** The kilobytes that a process has allocated and may write to. The number is 0 when the process has ended. */
function dataOf(pid: number): number {
  try {
    return Number(/^VmData:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

describe('PDFs from a busy Chromium', () => {
  let renderers: ChromiumPdfRenderer[] = [];
  const open = (options: Partial<ChromiumPdfRendererOptions> = {}): ChromiumPdfRenderer => {
    const renderer = aRenderer(options);
    renderers.push(renderer);
    return renderer;
  };
  afterEach(async () => {
    await Promise.all(renderers.map((renderer) => renderer.close()));
    renderers = [];
  });

  it.each(Object.entries(LARGE))('prints a large page in time: %s', async (_, html) => {
    expect(marksIn(textOf(await open().render(`<!doctype html>${html}${mark('end')}`, 'live')))).toEqual(['end']);
  });

  it.each(Object.entries(ENDLESS))('ends a page that takes too long (%s) and prints the next page', async (_, html) => {
    const renderer = open({ limitMs: 1_500 });
    await renderer.render('', 'live');
    expect(await renderer.render(html, 'live')).toEqual({ kind: 'timed-out' });
    await noPageIsLeft();
    const next = open();
    expect(marksIn(textOf(await next.render(mark('next'), 'live')))).toEqual(['next']);
    expect((await renderer.render(mark('again'), 'live')).kind).not.toBe('unavailable');
  });

  it('prints two pages at once while sixteen wait, and answers unavailable to one more', async () => {
    const renderer = open();
    const renderings = Array.from({ length: 18 }, (_, at) =>
      renderer.render(mark(`page-${'abcdefghijklmnopqr'[at]}`), 'live'),
    );
    expect(await renderer.render(mark('one-too-many'), 'live')).toEqual({ kind: 'unavailable' });
    for (const [at, rendered] of (await Promise.all(renderings)).entries())
      expect(marksIn(textOf(rendered))).toEqual([`page-${'abcdefghijklmnopqr'[at]}`]);
  });

  it('ends a page that needs more memory than allowed, while other pages are printed', async () => {
    const renderer = open({ limitMs: 120_000 });
    await renderer.render('', 'live');
    const heavy = renderer.render('<p>x'.repeat(475_000), 'live');
    let most = 0;
    let done = false;
    void heavy.finally(() => (done = true));
    expect(marksIn(textOf(await renderer.render(mark('beside'), 'live')))).toEqual(['beside']);
    while (!done) {
      for (const { pid } of await processesBelow(process.pid)) most = Math.max(most, dataOf(pid));
      await delay(20);
    }
    expect(await heavy).toEqual({ kind: 'too-large' });
    expect(most).toBeLessThanOrEqual(786_432);
    expect(marksIn(textOf(await renderer.render(mark('next'), 'live')))).toEqual(['next']);
  });
});
