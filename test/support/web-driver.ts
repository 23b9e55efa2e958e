// Firefox and WebKit, controlled by the commands of the W3C WebDriver standard, each in a browser of its own. Firefox
// receives the commands where its driver program sends them (Marionette). WebKit receives the commands from its driver
// program over HTTP.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { PATIENCE_MS, until } from './eventually.js';
import { freePort } from './redis.js';

export type Engine = 'Firefox' | 'WebKit';
/** CSS selectors of frames, from the page inwards. */
export type FramePath = readonly string[];

/** The characters that the standard uses for these keys. */
const KEYS: Readonly<Record<string, string>> = { '\t': '\uE004', '\n': '\uE007', '↓': '\uE015' };

/** The name of each command in Marionette, and its method and path over HTTP. */
const COMMANDS = {
  navigate: ['Navigate', 'POST', '/url'],
  frame: ['SwitchToFrame', 'POST', '/frame'],
  script: ['ExecuteAsyncScript', 'POST', '/execute/async'],
  limits: ['SetTimeouts', 'POST', '/timeouts'],
  keys: ['PerformActions', 'POST', '/actions'],
  window: ['SetWindowRect', 'POST', '/window/rect'],
  picture: ['TakeScreenshot', 'GET', '/screenshot'],
} as const;
type Command = keyof typeof COMMANDS;
type Send = (command: Command, parameters: object) => Promise<any>;

const onPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));

/** Debian puts the program next to its library, in a folder named after the processor. */
function miniBrowser(): string | undefined {
  const folders = (folder: string): string[] =>
    existsSync(folder)
      ? readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
          entry.isDirectory() ? [join(folder, entry.name)] : [],
        )
      : [];
  return folders('/usr/lib')
    .flatMap(folders)
    .map((folder) => join(folder, 'MiniBrowser'))
    .find((file) => file.includes('/webkit2gtk-') && existsSync(file));
}

const PROGRAMS: Readonly<Record<Engine, () => Readonly<Record<string, string | undefined>>>> = {
  Firefox: () => ({ 'firefox-esr': onPath('firefox-esr') }),
  WebKit: () => ({ WebKitWebDriver: onPath('WebKitWebDriver'), MiniBrowser: miniBrowser(), Xvfb: onPath('Xvfb') }),
};

/** The programs that a browser of this engine needs and that this machine lacks. */
export function missing(engine: Engine): string[] {
  return Object.entries(PROGRAMS[engine]()).flatMap(([name, file]) => (file === undefined ? [name] : []));
}

export class DrivenBrowser {
  private constructor(
    readonly engine: Engine,
    private readonly send: Send,
    /** The profile folder of the browser. */
    readonly profile: string,
    private readonly processes: readonly ChildProcess[],
  ) {}

  /** The browser starts with a window as high as any frame, because a press outside the window misses. */
  static async start(engine: Engine, window = { width: 1_000, height: 2_400 }): Promise<DrivenBrowser> {
    const profile = await mkdtemp(join(tmpdir(), 'browser-'));
    const processes: ChildProcess[] = [];
    const started = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess => {
      const child = spawn(program, args, {
        env: { ...process.env, HOME: profile, ...env },
        stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
        detached: true,
      });
      processes.push(child);
      return child;
    };
    const send = await (engine === 'Firefox' ? startFirefox : startWebKit)(started, profile, window);
    const browser = new DrivenBrowser(engine, send, profile, processes);
    await send('limits', { script: PATIENCE_MS, pageLoad: PATIENCE_MS });
    return browser;
  }

  async open(url: string): Promise<void> {
    await this.send('navigate', { url });
  }

  async resize(width: number, height: number): Promise<void> {
    await this.send('window', { x: 0, y: 0, width, height });
  }

  /**
   * The result of the function in the innermost of these frames, when it resolves. The function sees only its argument
   * and the page.
   */
  async run<A, R>(frames: FramePath, script: (argument: A) => R | Promise<R>, argument: A): Promise<R> {
    await this.enter(frames);
    return this.script(`(${String(script)})(arguments[0])`, argument);
  }

  /** Types keys into the focused element of the innermost of these frames. `\t` is the tabulator, `\n` is Enter, `↓` is an arrow. */
  async type(frames: FramePath, text: string): Promise<void> {
    await this.enter(frames);
    const keys = [...text].map((key) => KEYS[key] ?? key);
    const actions = keys.flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    try {
      await this.send('keys', { actions: [{ type: 'key', id: 'keyboard', actions }] });
    } catch (error) {
      // Enter may close its own frame before the key is released.
      if (!text.endsWith('\n') || !String(error).includes('no such window')) throw error;
    }
  }

  async picture(): Promise<Buffer> {
    await this.enter([]);
    return Buffer.from(await this.send('picture', { full: false }), 'base64');
  }

  /** Ends the browser with all its processes. */
  async stop(): Promise<void> {
    for (const child of [...this.processes].reverse()) {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue;
      const ended = once(child, 'exit');
      process.kill(-child.pid, 'SIGKILL');
      await ended;
    }
    await rm(this.profile, { recursive: true, force: true, maxRetries: 10 });
  }

  private async enter(frames: FramePath): Promise<void> {
    await this.send('frame', { id: null });
    for (const frame of frames) {
      let element: unknown = null;
      await until(`the frame ${frame} is there`, async () => {
        element = await this.script('document.querySelector(arguments[0])', frame);
        return element !== null;
      });
      await this.send('frame', { id: element });
    }
  }

  private async script(expression: string, argument: unknown): Promise<any> {
    const script = `const done = arguments[arguments.length - 1];
      new Promise((resolve) => resolve(${expression})).then((value) => done({ value: value ?? null }), (error) => done({ error: String(error) }));`;
    const result = await this.send('script', { script, args: [argument], scriptTimeout: PATIENCE_MS });
    if (result === null) throw new Error('The frame went away meanwhile.');
    if (result.error !== undefined) throw new Error(result.error);
    return result.value;
  }
}

type Started = (program: string, args: readonly string[], env?: NodeJS.ProcessEnv) => ChildProcess;
interface Size {
  readonly width: number;
  readonly height: number;
}

/** Each message is its length, a colon and JSON: [0, id, command, parameters], answered by [1, id, error, result]. */
async function startFirefox(started: Started, profile: string, { width, height }: Size): Promise<Send> {
  const port = await freePort();
  await writeFile(join(profile, 'user.js'), `user_pref("marionette.port", ${port});\n`);
  started('firefox-esr', [
    '--marionette',
    '--headless',
    '--no-remote',
    '--profile',
    profile,
    '--width',
    String(width),
    '--height',
    String(height),
  ]);
  const socket = await connected(port);
  const waiting = new Map<number, { resolve: (result: any) => void; reject: (error: Error) => void }>();
  let received = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const colon = received.indexOf(':');
      const end = colon + 1 + Number(received.subarray(0, Math.max(colon, 0)).toString());
      if (colon === -1 || received.length < end) return;
      const message = JSON.parse(received.subarray(colon + 1, end).toString());
      received = received.subarray(end);
      if (!Array.isArray(message)) continue;
      const [, id, error, result] = message;
      const { resolve, reject } = waiting.get(id)!;
      if (error) reject(new Error(`${error.error}: ${error.message}`));
      else resolve(result);
    }
  });
  let sent = 0;
  const send = (name: string, parameters: object): Promise<any> =>
    new Promise((resolve, reject) => {
      const id = ++sent;
      waiting.set(id, { resolve, reject });
      const text = JSON.stringify([0, id, `WebDriver:${name}`, parameters]);
      socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  await send('NewSession', { capabilities: { alwaysMatch: {} } });
  return async (command, parameters) => (await send(COMMANDS[command][0], parameters))?.value;
}

async function startWebKit(started: Started, _profile: string, { width, height }: Size): Promise<Send> {
  const port = await freePort();
  const screen = started('Xvfb', ['-displayfd', '3', '-screen', '0', `${width}x${height}x24`, '-nolisten', 'tcp']);
  const [display] = (await once(screen.stdio[3]!, 'data')) as [Buffer];
  started('WebKitWebDriver', [`--port=${port}`], {
    DISPLAY: `:${display.toString().trim()}`,
    // The browser's own sandbox has no namespaces in containers.
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
  });
  (await connected(port)).destroy();
  const send = async (method: string, path: string, parameters: object): Promise<any> => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(method === 'POST' && { body: JSON.stringify(parameters) }),
    });
    const { value } = (await reply.json()) as { value: any };
    if (!reply.ok) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };
  const browser = { binary: miniBrowser(), args: ['--automation'] };
  const { sessionId } = await send('POST', '/session', {
    capabilities: { alwaysMatch: { browserName: 'MiniBrowser', 'webkitgtk:browserOptions': browser } },
  });
  const driving: Send = (command, parameters) => {
    const [, method, path] = COMMANDS[command];
    return send(method, `/session/${sessionId}${path}`, parameters);
  };
  await driving('window', { x: 0, y: 0, width, height });
  return driving;
}

async function connected(port: number): Promise<Socket> {
  let socket: Socket | null = null;
  await until(`port ${port} answers`, async () => {
    const trying = connect(port, '127.0.0.1');
    socket = await new Promise<Socket | null>((resolve) => {
      trying.once('connect', () => resolve(trying));
      trying.once('error', () => resolve(null));
    });
    return socket !== null;
  });
  return socket!;
}
