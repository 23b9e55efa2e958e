// The whole service as its users see it: the built programs, a private Redis, the sandbox. The programs run in a
// process that the Jest worker keeps for them (service-host.mjs). When a test kills or freezes programs, each has its
// own process. Needs `npm run build` (npm test does it).
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Documented } from './documented.js';
import { until } from './eventually.js';
import { runOperatorCommand } from './operator.js';
import { freePort, RedisServer } from './redis.js';

export interface DemoAccount {
  readonly accountId: string;
  readonly publishableKey: string;
  readonly allowedOrigins: readonly string[];
  readonly secretKey: string;
  readonly apiKey: string;
  readonly dashboardTokens: { readonly owner: string; readonly administrator: string; readonly developer: string };
  readonly livePublishableKey?: string;
  readonly liveSecretKey?: string;
}

export interface Credentials {
  readonly baseUrl: string;
  readonly embeddedUrl: string;
  readonly sandboxUrl: string;
  readonly accounts: Readonly<
    Record<'demo' | 'child' | 'grandchild' | 'unrelated' | 'nopay' | 'broke' | 'unbilled', DemoAccount>
  >;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body. Undefined when the body is not JSON. */
  readonly body: any;
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. A string or bytes are sent unchanged. */
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

/** The browser of a service that prints PDFs. Other services have none. */
export const WITH_BROWSER = { CHROMIUM_PATH: process.env['CHROMIUM_PATH'] ?? '' };

/** Fills the folders of a service before it starts. */
export interface StoredFiles {
  readonly data?: (folder: string) => Promise<void>;
  readonly redis?: (folder: string) => Promise<void>;
}

export type ProgramName = 'service' | 'sandbox';

/** Runs the sandbox and the service in processes of their own. */
export const ALONE: readonly ProgramName[] = ['service', 'sandbox'];

export interface StartOptions {
  /** Files that are put into the data folder and the folder of Redis before the start. */
  readonly stored?: StoredFiles;
  /**
   * Programs that run in processes of their own. A test can kill or freeze such a process, or give it an environment
   * that Node reads at the start.
   */
  readonly alone?: readonly ProgramName[];
  /** A file descriptor for the standard output of a service in its own process. */
  readonly stdout?: number | 'pipe';
  /** Runs the service in processes of these roles, in the order of their start. */
  readonly roles?: readonly Role[];
}

export type Role = 'projector' | 'worker' | 'api';

const SHARED = [
  'INTERNAL_PORT',
  'STEP_UP_ATTEMPTS',
  'REAUTH_VALIDITY',
  'SANDBOX_API_KEY',
  'PROCESSOR_SECRET_KEY',
  'PROCESSOR_WEBHOOK_SECRET',
  'SANDBOX_SLOWNESS',
];
const READY_WITHIN_MS = 55_000;

/** A program of this repository in its own process. The program's output is kept for the tests. */
export class Program {
  output = '';
  private child: ChildProcess | null = null;

  constructor(
    readonly script: string,
    readonly env: Readonly<Record<string, string>>,
    readonly args: readonly string[] = [],
    readonly nodeArgs: readonly string[] = [],
    /** A file descriptor for the program's standard output. This output is then not kept. */
    private readonly stdout: number | 'pipe' = 'pipe',
  ) {}

  get pid(): number | undefined {
    return this.child?.pid;
  }

  get running(): boolean {
    return this.child !== null && this.child.exitCode === null && this.child.signalCode === null;
  }

  spawn(): void {
    const child = spawn(process.execPath, [...this.nodeArgs, resolve(this.script), ...this.args], {
      env: { PATH: process.env.PATH ?? '', ...this.env },
      stdio: ['ignore', this.stdout, 'pipe'],
    });
    const keep = (chunk: Buffer): void => {
      this.output += chunk.toString('utf8');
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    this.child = child;
  }

  /** Waits for the end. Resolves with the exit code or the signal's name. */
  ended(): Promise<number | string> {
    const child = this.child;
    if (!child) return Promise.resolve(0);
    if (child.exitCode !== null) return Promise.resolve(child.exitCode);
    if (child.signalCode !== null) return Promise.resolve(child.signalCode);
    return new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal ?? 0)));
  }

  async end(signal: NodeJS.Signals): Promise<number | string> {
    if (this.running) this.child?.kill(signal);
    return this.ended();
  }
}

/**
 * A program of this repository in the process that the Jest worker keeps for programs. The program starts there in a
 * fraction of the time.
 */
class HostedProgram {
  output = '';
  running = false;
  /** Resolves with the function that stops the program, or with null if it did not start. */
  private started: Promise<(() => Promise<void>) | null> = Promise.resolve(null);

  constructor(
    private readonly name: ProgramName,
    readonly env: Readonly<Record<string, string>>,
    /** Whether another program already runs on the same data. */
    private readonly beside = false,
  ) {}

  get pid(): never {
    throw new Error(`The ${this.name} has no process of its own; use Service.start(..., { alone: ['${this.name}'] })`);
  }

  spawn(): void {
    this.running = true;
    const env = { PATH: process.env['PATH'] ?? '', ...this.env };
    this.started = kept.serviceHost.start(this.name, env, this.beside, (text) => (this.output += text));
    this.started = this.started.catch((error: Error) => {
      this.running = false;
      this.output += error.message;
      return null;
    });
  }

  /** Ends the program as SIGTERM ends a process. */
  async end(signal: NodeJS.Signals): Promise<number | string> {
    if (signal !== 'SIGTERM') return this.pid;
    const stop = await this.started;
    if (this.running) await stop?.();
    this.running = false;
    return 0;
  }
}

/** The program of a service that several suites share. The program starts before the suites and ends after them. */
class SharedProgram extends HostedProgram {
  override spawn(): never {
    return this.pid;
  }

  override async end(): Promise<never> {
    return this.pid;
  }
}

/**
 * The settings of services that several suites share. The limits against abuse are off, as in every service of tests.
 */
const PLAIN = {
  OTP_RESEND_INTERVAL: '0',
  VENDOR_TIMEOUT: '1',
  SANDBOX_SLOWNESS: '0.3',
  WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32',
};
const PROFILES = {
  plain: PLAIN,
  /** Prints PDFs, and seals the log soon. The integrator of this profile serves pages at another port. */
  page: { ...PLAIN, ...WITH_BROWSER, SEAL_INTERVAL: '2' },
};

const COMMON = {
  LOG_LEVEL: 'info',
  // A trial start of the browser would take as much time as the start of the service.
  CHROMIUM_PATH: '/dev/null',
  TOKEN_EXCHANGE_PER_MINUTE: '100000',
  // A test acts for more people than the limits against abuse allow for one address, account or phone. Tests of the
  // limits set the limits that they need.
  LIMITS: 'off',
  RECOVERY_INTERVAL: '0.2',
};

/** Starts the program like `npm start` and the image. */
function asUsersRunIt(env: Readonly<Record<string, string>>, stdout: number | 'pipe' = 'pipe'): Program {
  return new Program('dist/src/main.js', env, [], ['--max-semi-space-size=64'], stdout);
}

async function withProbePorts(roles: readonly Role[]): Promise<string[]> {
  const ports = await Promise.all(roles.map(() => freePort()));
  return roles.map((role, index) => `${role}:${ports[index]}`);
}

interface ServiceHost {
  /** Resolves with the function that stops the program. */
  start(
    program: ProgramName,
    env: Readonly<Record<string, string>>,
    beside: boolean,
    say: (text: string) => void,
  ): Promise<() => Promise<void>>;
  /** Moves the clock of all services forward, until one of them is stopped. */
  turn(ms: number): Promise<unknown>;
}

/** The functions that environment.mjs provides to the tests. */
interface Kept {
  readonly serviceHost: ServiceHost;
  sharedService(
    profile: string,
    env: Readonly<Record<string, string>>,
    say: (text: string) => void,
  ): Promise<Readonly<Record<string, string>>>;
  makeAccounts(env: Readonly<Record<string, string>>): Promise<Credentials>;
  /** The service's own document, with which every reply is compared. The first service of the worker that serves it sets this. */
  documented?: Documented;
}

const kept = globalThis as unknown as Kept;

export class Service {
  private constructor(
    readonly baseUrl: string,
    readonly sandboxUrl: string,
    readonly dataDir: string,
    readonly redis: RedisServer,
    readonly sandbox: Program | HostedProgram,
    /** The program of the service itself. */
    public program: Program | HostedProgram,
    readonly env: Readonly<Record<string, string>>,
    /** The accounts of this suite, or null for the demo accounts. */
    private readonly own: Credentials | null = null,
  ) {}

  /**
   * A running service that the suites of a worker share. Each suite has its own accounts. A suite must not use this
   * service if it ends the service or breaks its parts.
   */
  static async shared(profile: keyof typeof PROFILES): Promise<Service> {
    const program = new SharedProgram('service', PROFILES[profile]);
    const env = await kept.sharedService(
      profile,
      {
        ...COMMON,
        ...PROFILES[profile],
        ...(profile === 'page' && { DEMO_PORT: String(await freePort()) }),
      },
      (text) => (program.output += text),
    );
    const { PUBLIC_URL = '', SANDBOX_URL = '', DATA_DIR = '', REDIS_URL = '' } = env;
    const redis = RedisServer.at(Number(new URL(REDIS_URL).port));
    const own = await kept.makeAccounts(env);
    const service = new Service(PUBLIC_URL, SANDBOX_URL, DATA_DIR, redis, program, program, env, own);
    await service.readDocuments();
    return service;
  }

  /** Starts all programs. `env` overrides the service's environment. */
  static async start(
    env: Readonly<Record<string, string>> = {},
    { stored = {}, alone = [], stdout = 'pipe', roles = [] }: StartOptions = {},
  ): Promise<Service> {
    const [redis, dataDir, port, sandboxPort] = await Promise.all([
      RedisServer.start(stored.redis),
      mkdtemp(join(tmpdir(), 'screening-')),
      freePort(),
      env.SANDBOX_PORT ?? freePort(),
    ]);
    await stored.data?.(dataDir);
    const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
    // The sandbox needs the address for the processor's events, and the settings that it shares with the service.
    const shared = Object.fromEntries(Object.entries(env).filter(([name]) => SHARED.includes(name)));
    const sandboxEnv = { SANDBOX_PORT: String(sandboxPort), DATA_DIR: dataDir, PORT: String(port), ...shared };
    const serviceEnv = {
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      SANDBOX_PORT: String(sandboxPort),
      SANDBOX_URL: sandboxUrl,
      DATA_DIR: dataDir,
      REDIS_URL: redis.url,
      ...COMMON,
      ...env,
    };
    const service = new Service(
      `http://127.0.0.1:${port}`,
      sandboxUrl,
      dataDir,
      redis,
      alone.includes('sandbox')
        ? new Program('dist/sandbox/main.js', sandboxEnv)
        : new HostedProgram('sandbox', sandboxEnv),
      roles.length > 0
        ? new Program('scripts/role-processes.mjs', serviceEnv, await withProbePorts(roles))
        : alone.includes('service')
          ? asUsersRunIt(serviceEnv, stdout)
          : new HostedProgram('service', serviceEnv),
      serviceEnv,
    );
    service.sandbox.spawn();
    service.program.spawn();
    try {
      await service.untilReady();
    } catch (error) {
      await service.stop();
      throw error;
    }
    return service;
  }

  /** Starts another process of this installation with these additional variables. The test ends its `program`. */
  async startBeside(env: Readonly<Record<string, string>>): Promise<Service> {
    const port = env['PORT'] ?? String(await freePort());
    const its = { ...this.env, ...env, PORT: port };
    const { sandboxUrl, dataDir, redis, sandbox } = this;
    const program = new HostedProgram('service', its, true);
    const other = new Service(`http://127.0.0.1:${port}`, sandboxUrl, dataDir, redis, sandbox, program, its);
    program.spawn();
    await other.untilReady();
    return other;
  }

  async credentials(): Promise<Credentials> {
    if (this.own) return this.own;
    return JSON.parse(await readFile(join(this.dataDir, 'demo-credentials.json'), 'utf8'));
  }

  async untilReady(): Promise<void> {
    await until(
      `the service is ready:\n${this.program.output.slice(-3_000)}`,
      async () => {
        if (!this.program.running) throw new Error(`The service ended:\n${this.program.output.slice(-3_000)}`);
        const reply = await this.request('GET', '/health/ready').catch(() => null);
        return reply?.status === 200;
      },
      READY_WITHIN_MS,
    );
    if (this.program instanceof Program) {
      for (const probed of this.program.args.map((argument) => argument.split(':')[1])) {
        const ready = `http://127.0.0.1:${probed}/health/ready`;
        await until('each process is ready', async () => (await fetch(ready).catch(() => null))?.ok === true);
      }
    }
    await this.readDocuments();
    await until(
      'the sandbox answers',
      async () => (await fetch(`${this.sandboxUrl}/control/calls`).catch(() => null))?.ok === true,
    );
  }

  /** Once in a suite. A service in production serves no documents. */
  private async readDocuments(): Promise<void> {
    if (kept.documented) return;
    const reply = await fetch(`${this.baseUrl}/openapi.json`);
    if (reply.status === 200) kept.documented = new Documented(await reply.json());
  }

  async request(
    method: string,
    path: string,
    { headers = {}, body, timeoutMs = 30_000 }: RequestOptions = {},
  ): Promise<Reply> {
    const raw = typeof body === 'string' || body instanceof Uint8Array || body === undefined;
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    const headersSent = Object.fromEntries(response.headers);
    const faults = kept.documented?.faultsOf({ method, path, status: response.status, headers: headersSent, text });
    if (faults && faults.length > 0) throw new Error(`The documents do not say this:\n${faults.join('\n')}`);
    return { status: response.status, headers: response.headers, ...withoutRequestId(response, text) };
  }

  /** Runs an operator command beside the service. `stdout` also holds the text from standard error. */
  async ops(...args: string[]): Promise<{ readonly exitCode: number; readonly stdout: string }> {
    const { exitCode, inOrder } = await runOperatorCommand(args, this.env);
    return { exitCode, stdout: inOrder };
  }

  /** The processes of a role with the addresses of their probes, from their last log entries about listening. */
  processesOf(role: Role): { readonly pid: number; readonly probes: string }[] {
    const byPort = new Map<number, number>();
    for (const line of this.program.output.split('\n')) {
      const entry = line.includes('"listening"') ? (parsed(line) as any) : undefined;
      if (entry?.role === role) byPort.set(entry.probePort, entry.pid);
    }
    return [...byPort].map(([port, pid]) => ({ pid, probes: `http://127.0.0.1:${port}` }));
  }

  /** Moves the clock forward by whole days. Earlier tokens have then expired. */
  async passDays(days: number): Promise<void> {
    if (this.program instanceof Program) throw new Error('The clock of a process of its own is not turned');
    if (this.own) throw new Error('The clock of a service that suites share is not turned');
    await kept.serviceHost.turn(days * 86_400_000);
  }

  /** Kills the service process without warning. The sandbox and Redis stay. */
  async kill9(): Promise<void> {
    await this.program.end('SIGKILL');
  }

  /**
   * Starts the service again on the same data. These variables are added from now on. `alone` chooses a process of its
   * own. By default, the choice stays as before.
   */
  async startAgain(
    env: Readonly<Record<string, string>> = {},
    { alone = this.program instanceof Program } = {},
  ): Promise<void> {
    Object.assign(this.env, env);
    const { output } = this.program;
    this.program = alone ? asUsersRunIt(this.env) : new HostedProgram('service', this.env);
    this.program.output = output;
    this.program.spawn();
    await this.untilReady();
  }

  /** Moves the service to its own process, which a test can kill or freeze. */
  async moveToOwnProcess(): Promise<void> {
    await this.program.end('SIGTERM');
    await this.startAgain({}, { alone: true });
  }

  async stop(): Promise<void> {
    if (this.own) return this.redis.stop();
    await this.program.end('SIGTERM');
    await this.sandbox.end('SIGTERM');
    await this.redis.stop();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  /** Signs a caller in with a fresh token of the account's publishable key. */
  async signIn(
    account: keyof Credentials['accounts'] = 'demo',
    key?: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<PlatformCaller> {
    const { publishableKey, allowedOrigins } = (await this.credentials()).accounts[account];
    // Only test keys allow http://localhost.
    const origin = allowedOrigins[key?.startsWith('pk_live_') ? 1 : 0] as string;
    const reply = await this.request('POST', '/auth/token/exchange', {
      headers: { 'x-publishable-key': key ?? publishableKey, origin },
    });
    if (reply.status !== 200) throw new Error(`Token exchange answered ${reply.status}: ${reply.text}`);
    return new PlatformCaller(this, { authorization: `Bearer ${reply.body.token}`, origin, ...headers });
  }

  /** Signs a page of the account in with a session grant that its server minted. */
  async signInUnderGrant(account: keyof Credentials['accounts'], terms: object = {}): Promise<PlatformCaller> {
    const { publishableKey, secretKey, allowedOrigins } = (await this.credentials()).accounts[account];
    const origin = allowedOrigins[0] as string;
    const grant = await this.request('POST', '/v1/sessions', { headers: { 'x-secret-key': secretKey }, body: terms });
    const reply = await this.request('POST', '/auth/token/exchange', {
      headers: { 'x-publishable-key': publishableKey, 'x-session-token': grant.body.token, origin },
    });
    if (reply.body?.grant?.consumed !== true)
      throw new Error(`The grant was not consumed: ${grant.text} ${reply.text}`);
    return new PlatformCaller(this, { authorization: `Bearer ${reply.body.token}`, origin });
  }
}

/**
 * Removes the request id and the address of the documents from a reply, so that tests can compare two refusals. An
 * error that names another request fails the test.
 */
function withoutRequestId({ headers }: Response, text: string): Pick<Reply, 'text' | 'body'> {
  const body: any = parsed(text);
  const id: unknown = body?.error?.request_id;
  if (id === undefined) return { text, body };
  if (id !== headers.get('service-request-id') && !headers.has('idempotent-replayed'))
    throw new Error(`The error names another request: ${text}`);
  delete body.error.request_id;
  delete body.error.doc_url;
  return { text: JSON.stringify(body), body };
}

/** The platform API with a token. */
export class PlatformCaller {
  constructor(
    private readonly service: Service,
    readonly headers: Readonly<Record<string, string>>,
  ) {}

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.service.request('GET', path, { headers: { ...this.headers, ...headers } });
  }

  post(path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.service.request('POST', path, { headers: { ...this.headers, ...headers }, body });
  }

  submit(person: Partial<Person> = {}): Promise<Reply> {
    return this.post('/screening/submit', aPerson(person));
  }

  status(id: string): Promise<Reply> {
    return this.get(`/screening/${id}/status`);
  }
}

export type Person = Record<string, unknown>;

let people = 0;

/** A body that is accepted. Each call makes a different person. */
export function aPerson(fields: Person = {}): Person {
  people += 1;
  const number = String(
    100_000_000 + ((process.pid * 10_007 + people * 7_919 + Math.floor(performance.timeOrigin)) % 899_999_999),
  );
  return {
    firstName: 'Ada',
    lastName: 'Example',
    dateOfBirth: '04121990',
    ssn: number,
    phoneNumber: '(415) 555-0134',
    currentAddress: '1 Main Street',
    currentCity: 'San Francisco',
    currentState: 'CA',
    currentZip: '94105',
    jscPayload: 'fp-test',
    termsAcceptedAt: new Date().toISOString(),
    userType: 'CONSUMER',
    ...fields,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
