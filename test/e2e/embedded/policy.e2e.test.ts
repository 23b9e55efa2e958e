// The limits of the frame's page and of the page around it, tried in a real browser (docs/contract/platform.md#embedded-component).
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Frame, Page } from 'playwright-core';
import { REPORT_STYLE } from '../../../src/surfaces/platform/report-style.js';
import { Embedding, type HostPage } from '../../support/embedding.js';
import { until } from '../../support/eventually.js';

/** Types of the functions that run in the browser. */
declare const document: any;
declare const navigator: any;
declare const getComputedStyle: any;

let embedding: Embedding;
/**
 * An origin that the key does not allow. The origin records the requests that it receives, except requests for its
 * pages.
 */
let foreign: Server;
let foreignOrigin: string;
const foreignPages = new Map<string, string>();
const askedThere: string[] = [];

let frameUrl: string;
let host: HostPage;

beforeAll(async () => {
  embedding = await Embedding.start();
  foreign = createServer(({ url = '/' }, response) => {
    const page = foreignPages.get(url);
    if (page === undefined) askedThere.push(url);
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('content-type', 'text/html');
    response.end(page);
  });
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
  foreignOrigin = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`;
  const { publishableKey } = embedding.credentials.accounts.demo;
  frameUrl = `${embedding.credentials.embeddedUrl}/?key=${publishableKey}`;
  embedding.serving('/bare', { html: around(frameUrl) }).serving('/empty', { html: '' });
});
afterAll(async () => {
  foreign.closeAllConnections();
  foreign.close();
  await embedding.stop();
});
afterEach(() => host.close());

const FEATURES = ['camera', 'microphone', 'geolocation', 'usb', 'serial', 'midi', 'display-capture'];
const around = (url: string): string =>
  `<!doctype html><title>Around</title><iframe src="${url}" allow="${FEATURES.join('; ')}; payment"></iframe>`;

async function openBare(): Promise<Frame> {
  host = await embedding.open('/bare');
  return frameIn(host.page);
}

/**
 * Opens an integrator's page whose frame holds this markup. The frame can be served without its policy, for comparison.
 */
async function openWith(markup: string, { policy = true } = {}): Promise<{ frame: Frame }> {
  host = await embedding.open('/empty');
  const { page } = host;
  // When the test supplies the content of a page, the page may not request other origins on this machine. The test
  // therefore answers this request too.
  await page.route(`${foreignOrigin}/x.js`, (route) =>
    route.fulfill({ contentType: 'text/javascript', body: 'globalThis.ran = "foreign script"' }),
  );
  await page.route(frameUrl, async (route) => {
    const response = await route.fetch();
    const { 'content-security-policy': csp, ...headers } = response.headers();
    await route.fulfill({
      response,
      headers: { ...headers, ...(policy && { 'content-security-policy': csp! }) },
      body: (await response.text()).replace('<body>', `<body>${markup}`),
    });
  });
  await page.goto(`${embedding.hostOrigin}/bare`);
  return { frame: frameIn(page) };
}

function frameIn(page: Page): Frame {
  const frame = page.frame({ url: frameUrl });
  if (frame === null) throw new Error(`There is no frame in ${page.url()}`);
  return frame;
}

/** The directive that refuses an action in the frame. */
function refusal(frame: Frame, name: string): Promise<string> {
  return frame.evaluate(
    ([name, foreign]) =>
      new Promise<string>((resolve) => {
        document.addEventListener('securitypolicyviolation', (event: any) => resolve(event.effectiveDirective), {
          once: true,
        });
        const add = (tag: string, attributes: Record<string, string>): any => {
          const element = document.createElement(tag);
          for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
          return document.body.appendChild(element);
        };
        const deeds: Record<string, () => unknown> = {
          fetch: () =>
            fetch(`${foreign}/x`).then(
              () => resolve('nothing'),
              () => undefined,
            ),
          beacon: () => navigator.sendBeacon(`${foreign}/x`, 'x'),
          socket: () => new WebSocket(`${foreign!.replace('http', 'ws')}/x`),
          image: () => add('img', { src: `${foreign}/x.png` }),
          frame: () => add('iframe', { src: `${foreign}/x` }),
          stylesheet: () => add('link', { rel: 'stylesheet', href: `${foreign}/x.css` }),
          'inline style': () => (add('style', {}).textContent = 'body { color: red }'),
          'style attribute': () => add('p', { style: 'color: red' }),
          base: () => document.head.appendChild(Object.assign(document.createElement('base'), { href: foreign })),
          form: () => add('form', { action: `${foreign}/x`, method: 'post' }).submit(),
        };
        deeds[name!]!();
      }),
    [name, foreignOrigin],
  );
}

describe('the page in the frame', () => {
  const INJECTED = `<script>globalThis.ran = 'inline script'</script>
<img src="data:," onerror="globalThis.ran = 'event handler'">
<iframe srcdoc="&lt;script&gt;parent.ran = 'script of a document within'&lt;/script&gt;"></iframe>`;

  it('runs no script that was injected into it', async () => {
    for (const markup of [INJECTED, `<script src="${foreignOrigin}/x.js"></script>`]) {
      const open = await openWith(markup, { policy: false });
      await open.frame.waitForFunction(() => 'ran' in globalThis);
      await host.close();

      const { frame } = await openWith(markup);
      await frame.waitForLoadState();
      expect(await frame.evaluate(() => (globalThis as any).ran)).toBeUndefined();
      expect(host.console.filter((line) => /Content Security Policy.*script-src/.test(line))).not.toEqual([]);
      await host.close();
    }
    host = await embedding.open('/bare');
  });

  it('loads nothing from other origins, sends nothing to them and sets no styles of its own', async () => {
    const frame = await openBare();
    askedThere.length = 0;
    for (const [deed, directive] of [
      ['fetch', 'connect-src'],
      ['beacon', 'connect-src'],
      ['socket', 'connect-src'],
      ['image', 'img-src'],
      ['frame', 'frame-src'],
      ['stylesheet', 'style-src-elem'],
      ['inline style', 'style-src-elem'],
      ['style attribute', 'style-src-attr'],
      ['base', 'base-uri'],
      ['form', 'form-action'],
    ] as const)
      expect([deed, await refusal(frame, deed)]).toEqual([deed, directive]);
    expect(askedThere).toEqual([]);
    expect(frame.url()).toBe(frameUrl);
  });

  it('turns no text into markup, scripts or code', async () => {
    const frame = await openBare();
    const thrown = await frame.evaluate(
      (foreign) =>
        // Runs in a task of the page, because a call by the debugger would be allowed.
        new Promise<Record<string, string>>((resolve) =>
          setTimeout(() => {
            const attempt = (deed: () => unknown): string => {
              try {
                deed();
                return 'nothing';
              } catch (error) {
                return (error as Error).name;
              }
            };
            const types = (globalThis as any).trustedTypes;
            const any = { createHTML: String, createScriptURL: String, createScript: String };
            resolve({
              innerHTML: attempt(() => (document.body.innerHTML = '<b>x</b>')),
              insertAdjacentHTML: attempt(() => document.body.insertAdjacentHTML('beforeend', '<b>x</b>')),
              srcdoc: attempt(() => (document.createElement('iframe').srcdoc = '<b>x</b>')),
              'script src': attempt(() => (document.createElement('script').src = `${foreign}/x.js`)),
              'script text': attempt(() => (document.createElement('script').text = '1')),
              'object data': attempt(() => (document.createElement('object').data = `${foreign}/x`)),
              'document.write': attempt(() => document.write('<b>x</b>')),
              eval: attempt(() => (0, eval)('1')),
              Function: attempt(() => new (globalThis as any).Function('1')),
              timeout: attempt(() => (setTimeout as any)('1')),
              'another policy': attempt(() => types.createPolicy('another', any)),
              'a default policy': attempt(() => types.createPolicy('default', any)),
            });
          }),
        ),
      foreignOrigin,
    );
    expect(thrown).toEqual({
      innerHTML: 'TypeError',
      insertAdjacentHTML: 'TypeError',
      srcdoc: 'TypeError',
      'script src': 'TypeError',
      'script text': 'TypeError',
      'object data': 'TypeError',
      'document.write': 'TypeError',
      eval: 'EvalError',
      Function: 'EvalError',
      timeout: 'TypeError',
      'another policy': 'TypeError',
      'a default policy': 'TypeError',
    });
  });

  it('may pay, but uses no camera, microphone or location, even if the outer page allows them', async () => {
    const frame = await openBare();
    const allowed = await frame.evaluate(() => document.featurePolicy.allowedFeatures() as string[]);
    expect(allowed.filter((feature) => [...FEATURES, 'payment'].includes(feature))).toEqual(['payment']);
  });

  it('shows the report page with its own style only', async () => {
    const report = (style: string): string =>
      `<iframe sandbox="allow-same-origin" srcdoc="<style>${style.replaceAll('"', '&quot;')}</style><p>x</p>"></iframe>`;
    const { frame } = await openWith(report(REPORT_STYLE) + report(`${REPORT_STYLE}p { color: red }`));
    await frame.waitForLoadState();
    const widths = await frame.evaluate(() =>
      [...document.querySelectorAll('iframe')].map(
        ({ contentDocument }: any) => getComputedStyle(contentDocument.body).maxWidth,
      ),
    );
    expect(widths).toEqual(['960px', 'none']);
  });
});

describe('the page around the frame', () => {
  it('must be a page that the key allows', async () => {
    expect(await (await openBare()).title()).not.toBe('');

    foreignPages.set('/', around(frameUrl));
    await refusedByAncestors(`${foreignOrigin}/`);
  });

  it('must be a page that the key allows, on every level', async () => {
    host = await embedding.open('/empty');
    foreignPages.set('/', around(`${embedding.hostOrigin}/bare`));
    await refusedByAncestors(`${foreignOrigin}/`);
    expect(host.page.frames().map((frame) => frame.url())).toContain(`${embedding.hostOrigin}/bare`);
  });

  it('is refused when the key does not exist', async () => {
    embedding.serving('/unknown', { html: around(`${embedding.credentials.embeddedUrl}/?key=pk_test_unknown`) });
    host = await embedding.open('/empty');
    await refusedByAncestors(`${embedding.hostOrigin}/unknown`);
  });

  async function refusedByAncestors(url: string): Promise<void> {
    await host.page.goto(url);
    await until('the browser refuses the frame', () =>
      Promise.resolve(host.console.some((line) => line.includes('frame-ancestors'))),
    );
    expect(host.page.frame({ url: frameUrl })).toBeNull();
  }

  it('may have a policy as strict as the documented policy, and receives no third-party cookies', async () => {
    const { service, credentials } = embedding;
    embedding.serving('/strict', {
      headers: {
        'content-security-policy': `default-src 'none'; script-src ${service.baseUrl}; connect-src ${service.baseUrl}; frame-src ${credentials.embeddedUrl}/; require-trusted-types-for 'script'; trusted-types 'none'`,
      },
    });
    host = await embedding.open('/empty');
    const cookies: string[] = [];
    host.page.on('response', async (response) => {
      const set = (await response.allHeaders())['set-cookie'];
      if (set !== undefined) cookies.push(`${response.url()}: ${set}`);
    });
    await host.page.goto(`${embedding.hostOrigin}/strict`);
    await host.mount();
    await host.hears('onReady');
    expect(host.console.filter((line) => line.includes('Content Security Policy'))).toEqual([]);
    // The component therefore behaves the same in browsers that refuse third-party cookies.
    expect([cookies, await host.page.context().cookies()]).toEqual([[], []]);
  });
});
