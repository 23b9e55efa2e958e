// One browser for all pages: started at the first use, started again when it died, and everything of it removed at the end.
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { withTimeout } from '../../kernel/with-timeout.js';

const START_WITHIN_MS = 15_000;
const WATCH_EVERY_MS = 250;
/** No server listens there, and the name rules below keep the browser from even trying. */
const NO_PROXY_THERE = 'http://127.0.0.1:1';

/**
 * What a page is denied here, it is denied a second time: no name resolves, not even an address, and every connection would have to
 * go through a proxy that does not exist. The rest keeps the browser itself from calling home.
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

/** `nobody`, as whom the browser runs when the service runs as root, for whom its sandbox would not work. */
const NOBODY = 65_534;
/** What each of the browser's processes may allocate, kilobytes. A page that needs more ends. */
const MEMORY_KB = 786_432;

/**
 * Starts the browser in its limits. It takes the last folder it is told; the library's own belongs to us. Never without its
 * sandbox: a browser that cannot set it up ends, and then nothing is printed.
 */
function launcher(executablePath: string, asRoot: boolean): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const other = asRoot ? `setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups -- ` : '';
  return `#!/bin/sh\nset -e\nulimit -d ${MEMORY_KB}\nexec ${other}${quoted(executablePath)} "$@" --user-data-dir="$HOME/profile"\n`;
}

export class ChromiumBrowser {
  private current: Promise<Browser> | null = null;
  /** What is still to be waited for: each settles when a browser's process is gone and its folder is removed. */
  private readonly ending = new Set<Promise<void>>();
  private readonly pages = new Map<Browser, number>();
  private readonly spent = new Set<Browser>();

  /** `executable` is asked at each start, so that a browser may be installed meanwhile; null when there is none. */
  constructor(
    private readonly executable: () => string | null,
    private readonly searchPath: string,
  ) {}

  /** The running browser, after starting it when need be. Rejects when there is none or it does not start; the next call tries again. */
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

  /** A page is in it from here to `end`. */
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

  /** The next `get` starts another browser, and this one ends with the last page in it. */
  async spend(browser: Browser): Promise<void> {
    if ((await this.current?.catch(() => null)) === browser) this.current = null;
    this.spent.add(browser);
  }

  /** Ends a browser that died or does not do as it is told; the next `get` starts another one. */
  async retire(browser: Browser): Promise<void> {
    if ((await this.current?.catch(() => null)) === browser) this.current = null;
    // The library kills one that does not answer; one that is gone already has nothing to say.
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
    if (executablePath === null) throw new Error('There is no browser on this machine.');
    // A process that prints nothing never loads the library.
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
        // Our environment holds secrets, and our home is none of its business.
        env: {
          PATH: this.searchPath,
          LANG: 'C.UTF-8',
          HOME: home,
          TMPDIR: home,
          XDG_CONFIG_HOME: home,
          XDG_CACHE_HOME: home,
        },
        timeout: START_WITHIN_MS,
        // Who stops the service stops the browser through `close`.
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
    // Leftovers in the folder for temporary files are no reason to fail.
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
 * The library takes a browser for alive until the last of its processes has let go of their common pipes, and the process of a page
 * that computes without end never does. So when the browser's own process is gone, the rest of its process group is ended too.
 */
async function watchProcess(browser: Browser): Promise<void> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const pid = processInfo.find(({ type }) => type === 'browser')?.id;
  if (pid === undefined) throw new Error('The browser does not know its own process.');
  if (!signalled(-pid, 0))
    throw new Error('The browser is not what was started: a script has started it, without `exec`.');
  const watch = setInterval(() => {
    if (signalled(pid, 0)) return;
    clearInterval(watch);
    signalled(-pid, 'SIGKILL');
  }, WATCH_EVERY_MS).unref();
  browser.once('disconnected', () => clearInterval(watch));
}

/** False when there is no such process or group. */
function signalled(pid: number, signal: 0 | 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
