// One browser for all pages. The browser starts at the first use and again after a crash, and leaves no process or file at the end.
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { withTimeout } from '../../kernel/with-timeout.js';

const START_WITHIN_MS = 15_000;
const WATCH_EVERY_MS = 250;
/** No server listens at this address, and the name rules below prevent the browser from connecting at all. */
const NO_PROXY_THERE = 'http://127.0.0.1:1';

/**
 * Blocks the network for pages a second time: no name or address resolves, and every connection needs a proxy that does not exist. The other flags
 * prevent the browser itself from contacting its maker.
 */
const ARGUMENTS = [
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--disable-quic',
];

/** An unprivileged user. When the service runs as root, the browser runs as this user, because its sandbox does not work for root. */
const NOBODY = 65_534;
/** The memory that each of the browser's processes may allocate, in kilobytes. A page that needs more ends. */
const MEMORY_KB = 786_432;

/**
 * Starts the browser within its limits. The browser uses the last folder on its command line, because the library's folder belongs to the service's
 * user. The browser always has its sandbox: without a sandbox the browser ends, and no page is printed.
 */
function launcher(executablePath: string, asRoot: boolean): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const other = asRoot ? `setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups -- ` : '';
  return `#!/bin/sh\nset -e\nulimit -d ${MEMORY_KB}\nexec ${other}${quoted(executablePath)} "$@" --user-data-dir="$HOME/profile"\n`;
}

export class ChromiumBrowser {
  private current: Promise<Browser> | null = null;
  /** Browsers that are ending: each promise settles when a browser's process has ended and its folder is removed. */
  private readonly ending = new Set<Promise<void>>();
  private readonly pages = new Map<Browser, number>();
  private readonly spent = new Set<Browser>();

  /** `executable` is called at each start, because a browser may have been installed in the meantime. Null if the machine has no browser. */
  constructor(
    private readonly executable: () => string | null,
    private readonly searchPath: string,
  ) {}

  /** The running browser, started if needed. Rejects if the machine has no browser or the browser does not start. The next call tries again. */
  get(): Promise<Browser> {
    if (this.current !== null) return this.current;
    const starting = this.start();
    this.current = starting;
    const over = (): void => {
      if (this.current === starting) this.current = null;
    };
    starting.then((browser) => browser.once('disconnected', over), over);
    return starting;
  }

  /** Counts one more page in this browser, until `end` is called. */
  begin(browser: Browser): void {
    this.pages.set(browser, (this.pages.get(browser) ?? 0) + 1);
  }

  end(browser: Browser): void {
    const left = (this.pages.get(browser) ?? 1) - 1;
    if (left > 0) {
      this.pages.set(browser, left);
      return;
    }
    this.pages.delete(browser);
    if (this.spent.delete(browser)) browser.close().catch(() => undefined);
  }

  /** The next `get` starts another browser, and this browser ends with its last page. */
  async spend(browser: Browser): Promise<void> {
    if ((await this.current?.catch(() => null)) === browser) this.current = null;
    this.spent.add(browser);
  }

  /** Ends a browser that has died or does not respond. The next `get` starts another browser. */
  async retire(browser: Browser): Promise<void> {
    if ((await this.current?.catch(() => null)) === browser) this.current = null;
    // The library kills a browser that does not answer. If the browser has already ended, the error does not matter.
    browser.close().catch(() => undefined);
  }

  async close(): Promise<void> {
    const browser = await this.current?.catch(() => null);
    const open = browser ? [browser, ...this.spent] : [...this.spent];
    await Promise.all(open.map((each) => each.close()));
    await Promise.all(this.ending);
  }

  private async start(): Promise<Browser> {
    const executablePath = this.executable();
    if (executablePath === null) throw new Error('This machine has no browser.');
    // A process that prints no page never loads the library.
    const { chromium } = await import('playwright-core');
    const home = await mkdtemp(join(tmpdir(), 'pdf-browser-'));
    const remove = (): Promise<void> => rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    const start = join(home, 'start');
    const asRoot = process.getuid?.() === 0;
    let browser: Browser;
    try {
      await writeFile(start, launcher(executablePath, asRoot), { mode: 0o755 });
      if (asRoot) await chown(home, NOBODY, NOBODY);
      browser = await chromium.launch({
        executablePath: start,
        headless: true,
        chromiumSandbox: true,
        proxy: { server: NO_PROXY_THERE },
        args: ARGUMENTS,
        // The service's environment contains secrets, and the browser must not read the service's home folder.
        env: {
          PATH: this.searchPath,
          LANG: 'C.UTF-8',
          HOME: home,
          TMPDIR: home,
          XDG_CONFIG_HOME: home,
          XDG_CACHE_HOME: home,
        },
        timeout: START_WITHIN_MS,
        // The service itself ends the browser through `close`.
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
      });
    } catch (error) {
      await remove();
      throw error;
    }
    const ended = new Promise<void>((resolve) => {
      browser.once('disconnected', () => resolve());
      if (!browser.isConnected()) resolve();
    }).then(remove);
    this.ending.add(ended);
    // Temporary files that are left over are not a fault.
    void ended.catch(() => undefined).finally(() => this.ending.delete(ended));
    const fault = await withTimeout(
      START_WITHIN_MS,
      watchProcess(browser).then(() => '', String),
    );
    if (fault !== '') {
      browser.close().catch(() => undefined);
      throw new Error(`The browser did not start well. ${fault ?? 'It does not answer.'}`);
    }
    return browser;
  }
}

/**
 * The library counts a browser as running until its last process has closed their common pipes. The process of a page that computes without end never
 * closes its pipes. After the end of the browser's main process, the other processes of its group are therefore ended too.
 */
async function watchProcess(browser: Browser): Promise<void> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const pid = processInfo.find(({ type }) => type === 'browser')?.id;
  if (pid === undefined) throw new Error('The browser does not report its process id.');
  if (!signalled(-pid, 0))
    throw new Error('The started program is not the browser: a script has started it, without `exec`.');
  const watch = setInterval(() => {
    if (signalled(pid, 0)) return;
    clearInterval(watch);
    signalled(-pid, 'SIGKILL');
  }, WATCH_EVERY_MS).unref();
  browser.once('disconnected', () => clearInterval(watch));
}

/** False if no such process or group exists. */
function signalled(pid: number, signal: 0 | 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
