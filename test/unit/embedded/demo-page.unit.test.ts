// The parts of the demo page that need no browser.
import { runInThisContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { asCode, type Choice } from '../../../web/demo/choice.js';
import { placeOf } from '../../../web/demo/timeline.js';

const at = (minute: number) => ({ at: new Date(Date.UTC(2026, 0, 1, 12, minute)) });

it.each<[string, number, number]>([
  ['the newest entry', 9, 0],
  ['a webhook of the past that arrives after a newer callback', 4, 1],
  ['an entry with the time of an earlier entry', 3, 1],
  ['the oldest entry', 0, 3],
])('%s gets its place in the list by time', (_, minute, place) => {
  expect(placeOf(at(minute), [at(6), at(3), at(1)])).toBe(place);
});

it('the first entry of an empty list gets the first place', () => {
  expect(placeOf(at(1), [])).toBe(0);
});

const SERVICE = {
  baseUrl: 'http://localhost:3000',
  embeddedUrl: 'http://localhost:3000/embedded',
  publishableKey: 'pk_test_0000000000000000',
};
const CHOICE: Choice = {
  account: 'demo',
  grant: 'none',
  pageHandles: true,
  view: 'screening',
  init: { locale: 'en', appearance: { theme: 'dark' } },
  mount: {
    selector: '#component',
    unitAddress: '12 "Elm" Street </script>',
    userType: 'CONSUMER',
    prefill: { firstName: 'Robin' },
  },
};

/** Runs the last script of the code with a service that only keeps the arguments of its calls. */
async function calls(code: string): Promise<[string, ...unknown[]][]> {
  const script = /<script type="module">([^]*?)<\/script>/.exec(code)?.[1] ?? '';
  const made: [string, ...unknown[]][] = [];
  const mount = (...given: unknown[]) => made.push(['mount', ...given]);
  const Service = {
    init: (...given: unknown[]) => {
      made.push(['init', ...given]);
      return { mount };
    },
  };
  const run = runInThisContext(`(async (Service) => {${script}})`) as (service: object) => Promise<void>;
  await run(Service);
  return made;
}

it('the code of a choice is a whole page: the element, the host script, and calls with the chosen options', async () => {
  const code = asCode(CHOICE, SERVICE);
  expect(code).toMatch(/^<div id="component"><\/div>\n<script src="http:\/\/localhost:3000\/embed\/v1\/service\.js">/);
  const listener = expect.any(Function);
  const listeners = { onScreeningSuccess: listener, onError: listener };
  expect(await calls(code)).toEqual([
    ['init', SERVICE.publishableKey, CHOICE.init],
    [
      'mount',
      'screening',
      { ...CHOICE.mount, ...listeners, handlePrintRequested: listener, handleDownloadRequested: listener },
    ],
  ]);
});

it('the code of a choice with a grant and with a frame of another address has these two options too', async () => {
  const embeddedUrl = 'http://frame.localhost:3000/embedded';
  const [init] = await calls(asCode({ ...CHOICE, grant: 'own' }, { ...SERVICE, embeddedUrl }));
  expect(init).toEqual([
    'init',
    SERVICE.publishableKey,
    { ...CHOICE.init, embeddedUrl, sessionToken: expect.any(String) },
  ]);
});
