// Opens the embedded component as people see it: an integrator's page in a real browser loads the host script. Three
// origins are involved: the page's, the service's (API and frame) and the sandbox's (payment processor and device
// check).
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
import { type HostDocument, IntegratorSite } from './integrator-site.js';
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
  'onReportUnavailable',
  'onDone',
  'onIncomeReportComplete',
  'onIncomeReportFailure',
  'onError',
  'onWarning',
] as const;

/** One callback that the integrator's page received: its name and its payload. */
export type Told = readonly [name: string, payload: any];

export interface MountWish {
  readonly view?: string;
  /** The options of `mount`. `unitAddress` has a default, and the page listens to every callback. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly init?: Readonly<Record<string, unknown>>;
  readonly account?: keyof Credentials['accounts'];
  readonly key?: string;
  /** Names of further handlers that the page passes to `mount`. */
  readonly handles?: readonly string[];
}

export class Embedding {
  private constructor(
    readonly site: IntegratorSite,
    readonly browser: Browser,
  ) {}

  static async start(
    env: Readonly<Record<string, string>> = {},
    options: StartOptions & { readonly browser?: string; readonly isolation?: readonly string[] } = {},
  ): Promise<Embedding> {
    return Embedding.with(IntegratorSite.start(env, options), options);
  }

  /** Uses a service that several suites share. */
  static async shared(): Promise<Embedding> {
    return Embedding.with(Service.shared('page').then(IntegratorSite.of));
  }

  private static async with(
    opening: Promise<IntegratorSite>,
    { browser: executablePath = pageBrowser, isolation }: { browser?: string; isolation?: readonly string[] } = {},
  ): Promise<Embedding> {
    const launching = chromium.launch({ executablePath, args: browserArguments(isolation) });
    const [site, browser] = await Promise.all([opening, launching]);
    return new Embedding(site, browser);
  }

  get service(): Service {
    return this.site.service;
  }

  get credentials(): Credentials {
    return this.site.credentials;
  }

  /** The origin of the integrator's pages, which the demo keys allow. */
  get hostOrigin(): string {
    return this.site.origin;
  }

  /** Adds another page of the integrator. */
  serving(path: string, page: Partial<HostDocument>): this {
    this.site.serving(path, page);
    return this;
  }

  hostPage(body?: string): string {
    return this.site.hostPage(body);
  }

  /**
   * Opens a page of the integrator in a browser context of its own. The page has not mounted the component yet. Nothing moves by default, because
   * drawing each step of a movement takes most of the browser's CPU.
   */
  async open(path = '/', context: BrowserContextOptions = {}): Promise<HostPage> {
    const browsing = await this.browser.newContext({
      locale: 'en-US',
      timezoneId: 'America/Chicago',
      reducedMotion: 'reduce',
      ...context,
    });
    const page = await browsing.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const host = new HostPage(page, this);
    await page.goto(this.hostOrigin + path);
    return host;
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.site.stop();
  }
}

export class HostPage {
  /** Messages on the browser console, from the page and its frames. */
  readonly console: string[] = [];
  /** Every request of the page and its frames. */
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

  /** The content of the mounted component. */
  get frame(): FrameLocator {
    return this.page.frameLocator('#place iframe');
  }

  /** Mounts a view at #place and listens to every callback. Resolves or rejects as `mount` does. */
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
   * Presses an element in the frame after the page has given the frame the height of its content. Until then, the
   * content still moves. A press that reaches another document, such as the report, would be lost without an error.
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

  /** All callbacks that the page has received until now. */
  async told(): Promise<Told[]> {
    return this.page.evaluate(() => (globalThis as any).told ?? []);
  }

  /** Waits until a callback has been called `times` times, and returns the last of these payloads. */
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
