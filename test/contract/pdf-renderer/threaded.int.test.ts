// The renderer in the thread that a service starts for it.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, it } from '@jest/globals';
import { type RendererThreadData, ThreadedPdfRenderer } from '../../../src/adapters/pdf-renderer/threaded.js';
import {
  browsers,
  browserWithPage,
  executablePath,
  mark,
  marksIn,
  searchPath,
  SPINNING,
  textOf,
} from '../../support/browsers.js';
import { until } from '../../support/eventually.js';

const THREAD = pathToFileURL(join(import.meta.dirname, '../../../dist/src/adapters/pdf-renderer/renderer-thread.js'));

let renderer: ThreadedPdfRenderer;
let threads: Worker[];
let reasons: unknown[];

function open(data: Partial<RendererThreadData> = {}, file = THREAD): ThreadedPdfRenderer {
  threads = [];
  reasons = [];
  renderer = new ThreadedPdfRenderer(
    () => {
      const thread = new Worker(file, { workerData: { executablePath, searchPath, ...data } });
      threads.push(thread);
      return thread;
    },
    (error) => reasons.push(error),
  );
  return renderer;
}

afterEach(async () => {
  await renderer.close();
});

it('prints pages at once, each for whom it is, and leaves neither a thread nor a browser', async () => {
  open();
  expect(threads).toEqual([]);
  const printed = await Promise.all(['one', 'two', 'three'].map((name) => renderer.render(mark(name), 'live')));
  expect(printed.map((each) => marksIn(textOf(each)))).toEqual([['one'], ['two'], ['three']]);
  expect(threads).toHaveLength(1);
  expect(await browsers()).toHaveLength(1);
  await renderer.close();
  expect([threads[0]?.threadId, await browsers()]).toEqual([-1, []]);
  expect(await renderer.render(mark('late'), 'live')).toEqual({ kind: 'unavailable' });
  expect(reasons).toEqual([]);
});

it('answers what was under way when the thread died, and prints in another one', async () => {
  open();
  const under = renderer.render(SPINNING, 'live');
  await browserWithPage();
  await threads[0]?.terminate();
  expect(await under).toEqual({ kind: 'unavailable' });
  expect(marksIn(textOf(await renderer.render(mark('after'), 'live')))).toEqual(['after']);
  expect(threads).toHaveLength(2);
  await until('the browser of the thread that died is gone', async () => (await browsers()).length === 1);
});

it('tells why no browser starts, and why no thread does', async () => {
  open({ executablePath: '/nowhere/chromium' });
  renderer.check();
  await until('the reason is told', () => reasons.length === 1);
  expect(reasons).toEqual([expect.objectContaining({ message: expect.stringContaining('browser') })]);
  expect(await renderer.render(mark('page'), 'test')).toEqual({ kind: 'no-browser' });
  await renderer.close();

  open({}, new URL('./nowhere.js', THREAD));
  expect(await renderer.render(mark('page'), 'test')).toEqual({ kind: 'unavailable' });
  expect(reasons).toEqual([expect.objectContaining({ message: expect.stringContaining('nowhere.js') })]);
});
