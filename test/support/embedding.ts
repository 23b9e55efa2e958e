// The embedded component as people meet it: a page of an integrator that loads the host script, in a real browser, over three origins:
// the page's, the service's (API and frame), and the sandbox's (the payment processor and the device check).
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type FrameLocator,
  type Locator,
  type Page,
} from 'playwright-core';
import { MIN_HEIGHT } from '../../web/contract/read-messages.js';
import { browserArguments, pageBrowser } from './browsers.js';
import { PATIENCE_MS } from './eventually.js';
import { freePort } from './redis.js';
import { type Credentials, Service, type StartOptions } from './service.js';

export const CALLBACKS = [
  'onReady',
  'onResize',
  'onChange',
  'onStepStart',
  'onStepComplete',
  'onVerificationSuccess',
  'onVerificationFailure',
  'onScreeningSuccess',
  'onPaymentSuccess',
  'onReportShared',
  'onReportRevoked',
  'onReportShareDeclined',
  'onIncomeReportComplete',
  'onIncomeReportFailure',
  'onError',
  'onWarning',
] as const;

/** What the integrator's page heard: the callback's name and its payload. */
export type Told = readonly [name: string, payload: any];

export interface MountWish {
  readonly view?: string;
  /** Options of mount; `unitAddress` has a default, and every callback is listened to. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly init?: Readonly<Record<string, unknown>>;
  readonly account?: keyof Credentials['accounts'];
  readonly key?: string;
  /** Names of the handlers that the page takes over. */
  readonly handles?: readonly string[];
}

export class Embedding {
  private constructor(
    readonly service: Service,
    readonly browser: Browser,
    readonly credentials: Credentials,
    /** Of the integrator's pages; the demo keys allow it. */
    readonly hostOrigin: string,
    private readonly server: Server,
    /** What the integrator serves, by path. */
    private readonly pages: Map<string, HostDocument>,
  ) {}

  static async start(
    env: Readonly<Record<string, string>> = {},
    options: StartOptions & { readonly browser?: string; readonly isolation?: readonly string[] } = {},
  ): Promise<Embedding> {
    const { browser: executablePath = pageBrowser, isolation } = options;
    const hostPort = await freePort();
    const pages = new Map<string, HostDocument>();
    const server = createServer((request, response) => {
      const page = pages.get(new URL(request.url ?? '/', 'http://host').pathname);
      response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html', ...page?.headers });
      response.end(page?.html);
    });
    const [service, browser] = await Promise.all([
      Service.start({ DEMO_PORT: String(hostPort), ...env }, options),
      chromium.launch({ executablePath, args: browserArguments(isolation) }),
      new Promise<void>((resolve) => server.listen(hostPort, 'localhost', resolve)),
    ]);
    const { port } = server.address() as AddressInfo;
    return new Embedding(
      service,
      browser,
      await service.credentials(),
      `http://localhost:${port}`,
      server,
      pages,
    ).serving('/', {});
  }

  /** Another page of the integrator. */
  serving(path: string, { html = this.hostPage(), headers = {} }: Partial<HostDocument>): this {
    this.pages.set(path, { html, headers });
    return this;
  }

  /** As an integrator writes it. */
  hostPage(body = '<main id="place"></main>'): string {
    return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Host</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<script src="${this.service.baseUrl}/embed/v1/service.js"></script></head><body>${body}</body></html>`;
  }

  /** A page of the integrator in a browser of its own; nothing is mounted yet. */
  async open(path = '/', context: BrowserContextOptions = {}): Promise<HostPage> {
    const browsing = await this.browser.newContext({ locale: 'en-US', timezoneId: 'America/Chicago', ...context });
    const page = await browsing.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const host = new HostPage(page, this);
    await page.goto(this.hostOrigin + path);
    return host;
  }

  async stop(): Promise<void> {
    await this.browser.close();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    await this.service.stop();
  }
}

interface HostDocument {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

export class HostPage {
  /** What the browser console said, of the page and of the frames in it. */
  readonly console: string[] = [];
  /** Every request of the page and of the frames in it. */
  readonly requests: { readonly method: string; readonly url: string; readonly body: string | null }[] = [];

  constructor(
    readonly page: Page,
    private readonly embedding: Embedding,
  ) {
    page.on('console', (message) => this.console.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => this.console.push(`uncaught: ${String(error)}`));
    page.on('request', (request) =>
      this.requests.push({ method: request.method(), url: request.url(), body: request.postData() }),
    );
  }

  /** The inside of the mounted component. */
  get frame(): FrameLocator {
    return this.page.frameLocator('#place iframe');
  }

  /** Mounts a view at #place, hears every callback, and resolves when `mount` has; rejects as it does. */
  async mount({
    view = 'screening',
    options = {},
    init = {},
    account = 'demo',
    key,
    handles = [],
  }: MountWish = {}): Promise<void> {
    const publishableKey = key ?? this.embedding.credentials.accounts[account].publishableKey;
    await this.page.evaluate(
      async ({ view, options, init, publishableKey, names }) => {
        const host = globalThis as any;
        host.told ??= [];
        const callbacks = Object.fromEntries(
          names.map((name) => [name, (payload: unknown) => host.told.push([name, payload])]),
        );
        host.instance = await host.Service.init(publishableKey, init);
        host.mounted = await host.instance.mount(view, {
          selector: '#place',
          unitAddress: '12 Elm Street, Apt 4, Austin, TX 78701',
          ...callbacks,
          ...options,
        });
      },
      { view, options, init, publishableKey, names: [...CALLBACKS, ...handles] },
    );
  }

  /**
   * Presses what is in the frame, once the page has given the frame the height of its content. Until then the content still moves, and a
   * press that meets another document, such as that of the report, is lost without a word.
   */
  async press(target: Locator): Promise<void> {
    await target.waitFor();
    const fits = await this.frame.locator('body').evaluate(
      async (body: any, [least, patience]: readonly [number, number]) => {
        const browser = globalThis as any;
        const height = (): number => Math.max(least, body.getBoundingClientRect().height);
        const end = Date.now() + patience;
        while (Math.abs(browser.innerHeight - height()) > 1) {
          if (Date.now() > end) return false;
          await new Promise((resolve) => browser.requestAnimationFrame(resolve));
        }
        return true;
      },
      [MIN_HEIGHT, PATIENCE_MS] as const,
    );
    if (!fits) throw new Error('The page has not given the frame the height of its content.');
    await target.click();
  }

  /** All callbacks so far. */
  async told(): Promise<Told[]> {
    return this.page.evaluate(() => (globalThis as any).told ?? []);
  }

  /** Waits until a callback has been told `times` times, and gives the payload of that time. */
  async hears(name: string, times = 1): Promise<any> {
    try {
      await this.page.waitForFunction(
        ({ name, times }) => ((globalThis as any).told ?? []).filter((each: Told) => each[0] === name).length >= times,
        { name, times },
        { timeout: PATIENCE_MS },
      );
    } catch (error) {
      const told = JSON.stringify(await this.told().catch(() => null));
      throw new Error(`${name} was not told ${times} times. Told: ${told}\nConsole: ${this.console.join('\n')}`, {
        cause: error,
      });
    }
    return (await this.told()).filter(([each]) => each === name)[times - 1]?.[1];
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
