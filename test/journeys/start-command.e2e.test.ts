// `npm start` in a project of stubs. The commands in scripts/ and the rules for the environment are real. The programs
// that they build and start are stubs.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import ts from 'typescript';
import { until } from '../support/eventually.js';
import { PRODUCTION } from '../support/production.js';
import { freePort } from '../support/redis.js';

/**
 * Both stubs write to one file when they receive the signal to stop and when they have stopped. The file shows the
 * order.
 */
const STUB = (name: string, port: string) => `
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
const { ROLE = '', PROBE_PORT } = process.env;
const note = (what) => appendFileSync(process.env.DATA_DIR + '/order', '${name} ' + (PROBE_PORT ? ROLE + ' ' : '') + what + '\\n');
if (existsSync(process.env.DATA_DIR + '/crash-${name}')) { console.error('the ${name} cannot go on'); process.exit(7); }
writeFileSync(process.env.DATA_DIR + '/${name}.env', JSON.stringify(process.env));
const account = { publishableKey: 'pk_test_stub', secretKey: 'sk_test_stub', apiKey: 'ak_test_stub', allowedOrigins: ['http://localhost:5173'] };
const baseUrl = 'http://localhost:' + process.env.PORT;
writeFileSync(process.env.DATA_DIR + '/demo-credentials.json',
  JSON.stringify({ baseUrl, embeddedUrl: baseUrl + '/embedded', accounts: { demo: account, nopay: account } }));
const unready = process.env.DATA_DIR + '/unready-${name}' + (PROBE_PORT ? '-' + ROLE : '');
const answer = ({ url }, response) => {
  if (url === '/die') process.exit(9);
  if (url === '/health/ready' && existsSync(unready)) response.writeHead(503).end(readFileSync(unready));
  else response.end(ROLE);
};
const listen = (port) => createServer(answer)
  .listen({ port, host: '127.0.0.1', exclusive: port === PROBE_PORT });
if (!PROBE_PORT || ROLE === 'api') listen(process.env.${port});
if (PROBE_PORT) listen(PROBE_PORT);
process.on('SIGTERM', () => { note('told'); setTimeout(() => { note('gone'); process.exit(0); }, 50); });
`;

/** Stands in for `nest build`. */
const COMPILER = `
import { cpSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
for (const folder of ['src/', 'sandbox/']) for (const file of readdirSync(folder, { recursive: true })) {
  if (!statSync(folder + file).isFile()) continue;
  const output = 'dist/' + folder + file.replace(/\\.ts$/, '.js');
  mkdirSync(dirname(output), { recursive: true });
  cpSync(folder + file, output);
}
`;

/** Stands in for the bundler. */
const BUNDLER = `
import { mkdirSync, writeFileSync } from 'node:fs';
mkdirSync('dist-web/demo/assets', { recursive: true });
writeFileSync('dist-web/demo/index.html', '<!-- host script -->');
writeFileSync('dist-web/demo/assets/main.js', 'page();');
`;

/** The rules for the environment, in a form that the stub compiler can process. */
const transpiled = (file: string): string =>
  ts.transpileModule(readFileSync(file, 'utf8'), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  }).outputText;
const RULES = [
  ...readdirSync('src/config')
    .filter((file) => !file.endsWith('.module.ts'))
    .map((file) => join('src/config', file)),
  'src/kernel/url.ts',
  'src/kernel/vendor-choice.ts',
  'src/kernel/vendor-settings.ts',
].map((file) => [file, transpiled(file)] as const);

interface Run {
  readonly process: ChildProcess;
  output: string;
  readonly ended: Promise<number | null>;
}

interface Child {
  readonly name: string;
  readonly pid: number;
}

let project: string;
let dataDir: string;
let ports: { readonly PORT: string; readonly SANDBOX_PORT: string };
let runs: Run[];

beforeEach(async () => {
  project = mkdtempSync(join(tmpdir(), 'start-command-'));
  dataDir = join(project, 'data');
  runs = [];
  const [port, sandboxPort] = [await freePort(), await freePort()];
  ports = { PORT: String(port), SANDBOX_PORT: String(sandboxPort) };
  cpSync('scripts', join(project, 'scripts'), { recursive: true });
  write('scripts/web.mjs', BUNDLER);
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  write('package.json', JSON.stringify({ name: 'stub', type: 'module', scripts: { start: scripts.start } }));
  write(
    'package-lock.json',
    JSON.stringify({ packages: { '': {}, 'node_modules/a': { version: '1.0.0', integrity: 'x' } } }),
  );
  write(
    'node_modules/.package-lock.json',
    JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0', integrity: 'x' } } }),
  );
  write('node_modules/@nestjs/cli/package.json', '{"type":"module"}');
  write('node_modules/@nestjs/cli/bin/nest.js', COMPILER);
  for (const file of ['tsconfig.json', 'tsconfig.build.json', 'nest-cli.json']) write(file, '{}');
  for (const [file, text] of RULES) write(file, text);
  write('src/vendor-kit/registry.ts', 'export const findVendors = async () => [];');
  write('src/main.ts', STUB('service', 'PORT'));
  write(
    'sandbox/doubles.ts',
    'export const findDoubles = async () => [{ double: { variables: { STEP_UP_ATTEMPTS: "3" } } }];',
  );
  write('sandbox/main.ts', STUB('sandbox', 'SANDBOX_PORT'));
  write('sandbox/witness.ts', 'export const SANDBOX_WITNESS_KEY = "witness+key";');
});

afterEach(async () => {
  for (const run of runs) run.process.kill('SIGTERM');
  await Promise.all(runs.map(({ ended }) => ended));
  // Processes are left here only after a failed test.
  for (const { pid } of [...holder(), ...children()]) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  rmSync(project, { recursive: true, force: true });
});

describe('npm start', () => {
  it('prints the addresses, the demo keys and a first request, and passes the environment on to the service', async () => {
    const { output } = await started();
    expect(output).toContain(`http://localhost:${ports.PORT}\n`);
    expect(output).toContain(`http://127.0.0.1:${ports.SANDBOX_PORT}\n`);
    expect(output).toContain('sk_test_stub');
    expect(output).toContain("-H 'X-Publishable-Key: pk_test_stub' -H 'Origin: http://localhost:5173'");
    expect(serviceEnv()).toMatchObject({
      ...ports,
      DATA_DIR: dataDir,
      SANDBOX_URL: `http://127.0.0.1:${ports.SANDBOX_PORT}`,
      REDIS_URL: expect.stringMatching(/^redis:\/\/:[\w-]{32}@127\.0\.0\.1:\d+$/),
    });
  });

  it('runs as many processes of each role as ROLES says, shows their probes, and ends them in order', async () => {
    const run = await started({ ROLES: 'api:2,projector,worker:1' });
    const { processes } = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8'));
    const roles = ['projector', 'worker', 'api', 'api'];
    expect(processes.map(({ role }: { role: string }) => role)).toEqual(roles);
    for (const { role, probes } of processes) {
      expect(run.output).toContain(probes);
      expect(await (await fetch(probes)).text()).toBe(role);
    }
    expect(await (await fetch(`http://localhost:${ports.PORT}`)).text()).toBe('api');
    run.process.kill('SIGINT');
    expect(await run.ended).toBe(0);
    const order = readFileSync(join(dataDir, 'order'), 'utf8').trim().split('\n');
    expect(order.filter((line) => line.startsWith('service')).map((line) => line.split(' ')[1])).toEqual([
      'api',
      'api',
      'api',
      'api',
      'worker',
      'worker',
      'projector',
      'projector',
    ]);
    expect(order.at(-1)).toBe('sandbox gone');
  });

  it('restarts a process of a role when it dies', async () => {
    const run = await started({ ROLES: 'api,projector,worker' });
    const probes: string[] = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')).processes.map(
      (one: { probes: string }) => one.probes,
    );
    const deaths = (): string[] =>
      readFileSync(join(dataDir, 'logs', 'service.log'), 'utf8').match(/"how":"[^"]*"/g) ?? [];
    for (const [index, probe] of probes.entries()) {
      await fetch(`${probe}/die`).catch(() => undefined);
      await until('its death is reported', () => deaths().length === index + 1);
      await until('it answers again', async () => (await fetch(probe).catch(() => null))?.ok === true);
    }
    expect(deaths()).toEqual(Array(3).fill('"how":"ended with exit code 9"'));
    expect(run.process.exitCode).toBeNull();
  });

  it('fails as a whole when a process of a role cannot start', async () => {
    write('data/crash-service', '');
    const run = start({ ROLES: 'api,projector,worker' });
    expect(await run.ended).toBe(1);
    expect(run.output).toContain('the service cannot go on');
    expect(run.output).toMatch(/The projector \(process \d+\) ended with exit code 7 before it was ready\./);
  });

  it.each([
    ['one process', {}, 'service', 'service'],
    ['processes of roles', { ROLES: 'api:2,projector,worker' }, 'service-worker', 'worker'],
  ])(
    'continues while the service is not ready, gives the reason, and ends when the service is killed: %s',
    async (_, env, file, name) => {
      const reasons = { 'event-log': 'The log ends at position 5.', disk: 'The disk is full.' };
      write(`data/unready-${file}`, JSON.stringify({ status: 'unavailable', reasons }));
      const run = await started(env);
      expect(run.output).toContain(
        `The ${name} is not ready, and goes on:\n  event-log: The log ends at position 5.\n  disk: The disk is full.\n`,
      );
      expect(run.output.match(/is not ready/g)).toHaveLength(1);
      process.kill(children().find((child) => child.name === 'service')!.pid, 'SIGKILL');
      expect(await run.ended).toBe(1);
      expect(run.output).toMatch(/The service \(process \d+\) was killed by SIGKILL\./);
    },
  );

  it('gives the sandbox no setting that only the service needs', async () => {
    await started({
      VAULT_MASTER_KEY: PRODUCTION.VAULT_MASTER_KEY,
      JWT_SIGNING_KEY: PRODUCTION.JWT_SIGNING_KEY,
      SEAL_SIGNING_KEY: PRODUCTION.SEAL_SIGNING_KEY,
      AWS_SECRET_ACCESS_KEY: 'x',
      STEP_UP_ATTEMPTS: '2',
    });
    const [service, sandbox] = ['service', 'sandbox'].map(
      (name) => JSON.parse(readFileSync(join(dataDir, `${name}.env`), 'utf8')) as Record<string, string>,
    );
    expect(service).toMatchObject({ VAULT_MASTER_KEY: PRODUCTION.VAULT_MASTER_KEY, STEP_UP_ATTEMPTS: '2' });
    expect(Object.keys(sandbox ?? {}).sort()).toEqual(['DATA_DIR', 'PATH', 'PORT', 'SANDBOX_PORT', 'STEP_UP_ATTEMPTS']);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'stops the service, then the sandbox, then the demo, then Redis on %s',
    async (signal) => {
      const run = await started();
      const pids = children().map(({ pid }) => pid);
      expect(children().map(({ name }) => name)).toEqual(['service', 'sandbox', 'demo', 'redis']);
      run.process.kill(signal);
      expect(await run.ended).toBe(0);
      expect(readFileSync(join(dataDir, 'order'), 'utf8').trim().split('\n')).toEqual([
        'service told',
        'service gone',
        'sandbox told',
        'sandbox gone',
      ]);
      expect(readFileSync(join(dataDir, 'logs', 'redis.log'), 'utf8')).toContain('Redis is now ready to exit');
      expect(pids.filter(isAlive)).toEqual([]);
      expect(existsSync(join(dataDir, 'run.json'))).toBe(false);
    },
  );

  it('stops everything when npm is told to stop, and when npm is killed', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const run = await ready(spawnRun('npm', ['start']));
      const pids = children().map(({ pid }) => pid);
      run.process.kill(signal);
      await run.ended;
      await until('all of it has ended', () => !pids.some(isAlive) && !existsSync(join(dataDir, 'run.json')));
    }
  });

  it('resumes with the data of Redis and builds nothing again', async () => {
    const first = await started();
    await inRedis((redis) => redis.set('kept', 'yes'));
    first.process.kill('SIGINT');
    await first.ended;
    expect(first.output).toContain('Building');

    const second = await started();
    expect(second.output).not.toContain('Building');
    expect(await inRedis((redis) => redis.get('kept'))).toBe('yes');
  });

  it('builds again after a source file changed, and removes the output of a deleted source file', async () => {
    write('src/gone.ts', '');
    const first = await started();
    first.process.kill('SIGINT');
    await first.ended;
    expect(existsSync(join(project, 'dist', 'src', 'gone.js'))).toBe(true);
    rmSync(join(project, 'src', 'gone.ts'));
    const second = await started();
    expect(second.output).toContain('Building');
    expect(existsSync(join(project, 'dist', 'src', 'gone.js'))).toBe(false);
  });

  it('installs the packages when node_modules differs from the lock file', async () => {
    write(
      'package-lock.json',
      JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.1', integrity: 'y' } } }),
    );
    write(
      'npm.js',
      "import { writeFileSync } from 'node:fs'; writeFileSync('installed-with', process.argv.slice(2).join(' ')); process.exit(1);",
    );
    const run = start({ npm_execpath: join(project, 'npm.js') });
    expect(await run.ended).toBe(1);
    expect(readFileSync(join(project, 'installed-with'), 'utf8')).toContain('ci --include=dev');
    expect(run.output).toContain('npm ci failed');
  });

  it('names the process that already uses the data folder, and does not end it', async () => {
    const first = await started();
    const second = start({ PORT: '1', SANDBOX_PORT: '2' });
    expect(await second.ended).toBe(1);
    expect(second.output).toContain(
      `Already running at http://localhost:${ports.PORT} (start.mjs, process ${first.process.pid})`,
    );
    expect(children().every(({ pid }) => isAlive(pid))).toBe(true);
  });

  it('ends the processes that a killed run left running, and resumes with their data', async () => {
    const first = await started();
    await inRedis((redis) => redis.set('kept', 'yes'));
    const left = children();
    first.process.kill('SIGKILL');
    await first.ended;
    expect(left.every(({ pid }) => isAlive(pid))).toBe(true);

    const second = await started();
    expect(second.output).toContain(`Ending the service (process ${left[0]?.pid}) that an earlier run left behind`);
    expect(left.some(({ pid }) => isAlive(pid))).toBe(false);
    expect(await inRedis((redis) => redis.get('kept'))).toBe('yes');
  });

  it('limits the log files of its programs without losing a line, and continues without lines that a full disk refuses', () => {
    const file = join(project, 'logs', 'a.log');
    write(
      'log.mjs',
      `
      import { PassThrough } from 'node:stream';
      import { LogFile } from './scripts/log-file.mjs';
      const log = new LogFile('${file}', 1000);
      for (let number = 1; number <= 500; number++) for (const part of ['line ', number + '\\n']) log.write(Buffer.from(part));
      const full = new LogFile('/dev/full');
      // Only a program that drops lines itself, and counts them, is kept waiting.
      const waits = [true, false].map((dropsLines) => {
        const stream = new PassThrough();
        full.takeFrom(stream, dropsLines);
        stream.emit('data', Buffer.from('last words\\n'));
        return stream.isPaused();
      });
      console.log(full.tail, ...waits);`,
    );
    expect(spawnSync(process.execPath, [join(project, 'log.mjs')], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stdout: 'last words\nlast words\n true false\n',
      stderr: '',
    });
    const files = ['.4', '.3', '.2', '.1', ''].map((age) => readFileSync(file + age, 'utf8'));
    expect(readdirSync(join(project, 'logs'))).toHaveLength(5);
    for (const text of files) expect(text.length).toBeLessThan(1_100);
    const numbers = [...files.join('').matchAll(/^line (\d+)$/gm)].map(([, number]) => Number(number));
    expect(files.join('').split('\n')).toHaveLength(numbers.length + 1);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => 500 - numbers.length + 1 + index));
  });

  it('never ends a foreign process that has the process id of a former child', async () => {
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000) // dist/src/main.js']);
    const record = { pid: stranger.pid, birth: 'another boot 1', word: 'dist/src/main.js', name: 'service' };
    write('data/run.json', JSON.stringify({ ...record, word: 'start.mjs', children: [record] }));
    try {
      await started();
      expect(isAlive(stranger.pid!)).toBe(true);
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  it.each(['', '{"pid":12', '{}'])('ignores a lock file that a power cut left as %j', async (text) => {
    write('data/run.json', text);
    await started();
  });

  it.each(['service', 'sandbox', 'demo', 'redis'])(
    'names the %s when it dies, stops the rest and fails',
    async (name) => {
      const run = await started();
      const pids = children().map(({ pid }) => pid);
      const victim = children().find((child) => child.name === name)!;
      process.kill(victim.pid, 'SIGKILL');
      expect(await run.ended).toBe(1);
      expect(run.output).toContain(`The ${name} (process ${victim.pid}) was killed by SIGKILL`);
      expect(pids.filter(isAlive)).toEqual([]);
    },
  );

  it('shows why the service could not start', async () => {
    write('data/crash-service', '');
    const run = start();
    expect(await run.ended).toBe(1);
    expect(run.output).toMatch(
      /The service \(process \d+\) ended with exit code 7\.\nthe service cannot go on\nIts log: /,
    );
    expect(run.output).not.toContain('    at ');
  });

  it.each<[string, Record<string, string>]>([
    ['a port among others', { PORT: 'abc', EVENT_STORE: 'foo', LOG_LEVEL: 'zz', TOKEN_TTL: '-1' }],
    ['ports that no client could reach', { PORT: '0', SANDBOX_PORT: '0', GRANT_TTL: 'soon' }],
    ['processes', { ROLES: 'api:2,king', TOKEN_TTL: '-1' }],
    ['a role and processes', { ROLE: 'king', ROLES: 'api,worker,projector' }],
    ['a sandbox port and a Redis', { SANDBOX_PORT: '70000', REDIS_URL: 'redis://a:b:c', ROLE: 'king' }],
  ])('names every wrong variable in one sentence, and starts nothing: %s', async (_, env) => {
    const run = start(env);
    expect(await run.ended).toBe(1);
    const [message, ...more] = run.output
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('Building'));
    expect(more).toEqual([]);
    expect(
      message
        ?.replace('Configuration is not valid: ', '')
        .split('; ')
        .map((fault) => fault.split(' ')[0]),
    ).toEqual(Object.keys(env));
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('names missing production settings before it starts anything', async () => {
    const { VAULT_MASTER_KEY: _vault, JWT_SIGNING_KEY: _signing, ...rest } = PRODUCTION;
    const run = start(rest);
    expect(await run.ended).toBe(1);
    expect(run.output).toContain(
      'Configuration is not valid: VAULT_MASTER_KEY must be set in production; JWT_SIGNING_KEY must be set in production.\n',
    );
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it.each(['PORT', 'SANDBOX_PORT', 'DEMO_PORT'])('says in one sentence that %s is taken', async (name) => {
    const port = String(await freePort());
    const holder = createServer().listen(Number(port), '127.0.0.1');
    await once(holder, 'listening');
    try {
      const run = start({ [name]: port });
      expect(await run.ended).toBe(1);
      expect(run.output).toContain(
        `Port ${port} cannot be used (another program listens on it); set ${name} to another one.`,
      );
      expect(children()).toEqual([]);
    } finally {
      holder.close();
    }
  });

  it('uses REDIS_URL, and reports it at once if no server listens at this address', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    await started({ REDIS_URL: `redis://127.0.0.1:${port}/3` });
    expect(children().map(({ name }) => name)).toEqual(['service', 'sandbox', 'demo']);
    expect(JSON.parse(readFileSync(join(dataDir, 'service.env'), 'utf8')).REDIS_URL).toBe(
      `redis://127.0.0.1:${port}/3`,
    );
    holder.close();
  });

  it('starts no sandbox and no demo in production', async () => {
    await started(PRODUCTION);
    expect(children().map(({ name }) => name)).toEqual(['service', 'redis']);
    const env = serviceEnv();
    expect([env.SANDBOX_URL, env.WEBHOOK_EGRESS_ALLOW, env.NODE_EXTRA_CA_CERTS].filter(Boolean)).toEqual([]);
  });
});

describe('the demo page', () => {
  const addressIn = ({ output }: Run): string => /https?:\/\/\S+/.exec(output)?.[0] ?? '';

  it('is the first printed address, answers at this address, and shows no secret', async () => {
    const demo = addressIn(await started());
    expect(demo).toMatch(/^http:\/\/localhost:\d+$/);
    expect(serviceEnv().DEMO_PORT).toBe(new URL(demo).port);
    const page = await fetch(demo);
    expect(await page.text()).toBe(`<script src="http://localhost:${ports.PORT}/embed/v1/service.js"></script>`);
    expect(page.headers.get('content-security-policy')).toContain(`frame-src 'self' http://localhost:${ports.PORT};`);
    expect(await (await fetch(`${demo}/assets/main.js`)).text()).toBe('page();');
    const config = await (await fetch(`${demo}/config.json`)).text();
    expect(config).toContain('pk_test_stub');
    expect(config).not.toMatch(/sk_test|ak_test/);
  });

  it('is served at DEMO_PORT, which serves nothing else and refuses other pages', async () => {
    const demo = `http://localhost:${await freePort()}`;
    expect(addressIn(await started({ DEMO_PORT: new URL(demo).port }))).toBe(demo);
    for (const path of ['/assets/%2e%2e/index.html', '/assets/nothing.js', '/package.json'])
      expect((await fetch(demo + path)).status).toBe(404);
    for (const headers of [{}, { origin: 'http://localhost:1' }])
      expect((await fetch(`${demo}/grant`, { method: 'POST', headers, body: '{}' })).status).toBe(403);
    const elsewhere = await fetch(`http://127.0.0.1:${new URL(demo).port}/config.json`, { redirect: 'manual' });
    expect(elsewhere.status).toBe(307);
  });

  it('uses another port when its own port is in use', async () => {
    const holder = createServer();
    // The test also works when another program uses the port.
    await new Promise((resolve) => holder.on('error', resolve).listen(5173, '127.0.0.1', () => resolve(null)));
    try {
      const demo = addressIn(await started());
      expect(Number(new URL(demo).port)).not.toBe(5173);
      expect((await fetch(demo)).status).toBe(200);
    } finally {
      holder.close();
    }
  });

  it('adds only its own address and certificate to the webhook addresses and authorities that the user allows', async () => {
    write('ca.pem', 'an authority');
    await started({ WEBHOOK_EGRESS_ALLOW: '10.0.0.0/8', NODE_EXTRA_CA_CERTS: join(project, 'ca.pem') });
    const env = serviceEnv();
    expect(env.WEBHOOK_EGRESS_ALLOW).toBe('10.0.0.0/8,127.5.173.1/32');
    const trusted = readFileSync(env.NODE_EXTRA_CA_CERTS!, 'utf8');
    expect(trusted).toBe(`an authority\n${readFileSync(join(dataDir, 'demo', 'receiver.crt'), 'utf8')}`);
  });

  it('works without webhooks when no certificate can be made', async () => {
    const redis = { 'redis-server': `exec ${onPath('redis-server')} "$@"`, chromium: '' };
    const demo = addressIn(await started({ PATH: bin(redis) }));
    expect((await fetch(demo)).status).toBe(200);
    expect(serviceEnv().WEBHOOK_EGRESS_ALLOW).toBeUndefined();
  });
});

describe('without redis-server', () => {
  it('npm start says what to install', async () => {
    const run = start({ PATH: bin({}) });
    expect(await run.ended).toBe(1);
    expect(run.output).toContain('Redis 6.2 or newer is needed: install redis-server');
  });

  it('npm start refuses a redis-server that is too old', async () => {
    const run = start({ PATH: bin({ 'redis-server': 'echo "Redis server v=6.0.16 sha=00000000:0"' }) });
    expect(await run.ended).toBe(1);
    expect(run.output).toContain('Redis 6.2 or newer is needed');
  });

  it('npm start installs Redis with brew', async () => {
    const folder = join(project, 'bin');
    const run = await started({
      PATH: bin({
        brew: `echo "$@" > brew-args\n/bin/ln -s ${onPath('redis-server')} ${folder}/redis-server`,
        chromium: '',
      }),
    });
    expect(run.output).toContain('Installing redis (brew)');
    expect(readFileSync(join(project, 'brew-args'), 'utf8')).toBe('install --quiet redis\n');
  });

  const asRoot = process.getuid?.() === 0 ? it : it.skip;
  asRoot('does not install Redis in production', async () => {
    const run = start({
      ...PRODUCTION,
      PATH: bin({ 'apt-get': 'echo "$@" >> apt-args', brew: 'echo "$@" >> brew-args' }),
    });
    expect(await run.ended).toBe(1);
    expect(run.output).toContain('Redis 6.2 or newer is needed: install redis-server');
    expect(['apt-args', 'brew-args'].filter((file) => existsSync(join(project, file)))).toEqual([]);
  });

  asRoot('installs Redis with apt-get after an update, and gives the package scripts no secrets', async () => {
    const folder = join(project, 'bin');
    await started({
      VAULT_MASTER_KEY: PRODUCTION.VAULT_MASTER_KEY,
      PATH: bin({
        'apt-get': `echo "$@" >> apt-args\n[ -z "$VAULT_MASTER_KEY" ] || echo secrets >> apt-args\n[ "$1" = update ] || /bin/ln -s ${onPath('redis-server')} ${folder}/redis-server`,
        chromium: '',
      }),
    });
    expect(readFileSync(join(project, 'apt-args'), 'utf8')).toBe(
      'update -qq\ninstall -y -qq --no-install-recommends redis-server\n',
    );
  });

  it('npm start runs Redis in a container with its files in the data folder', async () => {
    // The stub does the work of the container engine: it maps the published port and the mounted folder to those in the
    // container.
    const docker = `
[ "$1" = info ] && exit 0
echo "$@" > docker-args
for arg in "$@"; do case $arg in 127.0.0.1:*:6379) port=\${arg#127.0.0.1:}; port=\${port%:6379};; *:/data) folder=\${arg%:/data};; esac; done
/bin/sed -i.inner -e "s#/data#$folder#" -e "s#0.0.0.0#127.0.0.1#" -e "s#6379#$port#" $folder/redis.conf
exec ${onPath('redis-server')} $folder/redis.conf`;
    const run = await started({ PATH: bin({ docker }) });
    await inRedis((redis) => redis.set('kept', 'yes'));
    expect(readFileSync(join(project, 'docker-args'), 'utf8')).toMatch(
      /^run --rm --init .*-v \S+\/data\/redis:\/data redis:\S+ redis-server \/data\/redis\.conf\n$/,
    );
    run.process.kill('SIGINT');
    expect(await run.ended).toBe(0);
  });
});

describe('without a browser', () => {
  const redis = (): Record<string, string> => ({ 'redis-server': `exec ${onPath('redis-server')} "$@"` });

  it('npm start succeeds, and says that PDFs are answered with 503', async () => {
    const run = await started({ PATH: bin(redis()) });
    expect(run.output).toContain(
      'PDFs are answered with 503: there is no Chromium on this machine; install it so that it is on the PATH, or set CHROMIUM_PATH.',
    );
  });

  it('npm start installs Chromium with brew', async () => {
    const folder = join(project, 'bin');
    const run = await started({
      PATH: bin({ ...redis(), brew: `echo "$@" > brew-args\n/bin/ln -s /bin/true ${folder}/chromium` }),
    });
    expect(readFileSync(join(project, 'brew-args'), 'utf8')).toBe('install --quiet chromium\n');
    expect(run.output).not.toContain('answered with 503');
  });

  const asRoot = process.getuid?.() === 0 ? it : it.skip;
  const packages = ['chromium-headless-shell', 'chromium'];
  const installing = (names: readonly string[]): string =>
    ['update -qq', ...names.map((name) => `install -y -qq --no-install-recommends ${name}`), ''].join('\n');

  asRoot.each([
    { refused: 'none', tried: ['chromium-headless-shell'] },
    { refused: 'chromium-headless-shell', tried: packages },
  ])('installs the first available package with apt-get; refused: $refused', async ({ refused, tried }) => {
    const folder = join(project, 'bin');
    const install = `case "$*" in update*) ;; *${refused}) exit 100;; *) for name; do :; done; /bin/ln -s /bin/true ${folder}/$name;; esac`;
    const run = await started({ PATH: bin({ ...redis(), 'apt-get': `echo "$@" >> apt-args\n${install}` }) });
    expect(readFileSync(join(project, 'apt-args'), 'utf8')).toBe(installing(tried));
    expect(run.output).not.toContain('answered with 503');
  });

  asRoot('goes on when apt-get cannot install Chromium', async () => {
    const run = await started({
      PATH: bin({ ...redis(), 'apt-get': 'echo "$@" >> apt-args\necho "no network" >&2\nexit 100' }),
    });
    expect(readFileSync(join(project, 'apt-args'), 'utf8')).toBe(installing(packages));
    expect(run.output).toContain('apt-get install failed: no network');
    expect(run.output).toContain('PDFs are answered with 503');
  });

  it.each(['google-chrome', 'microsoft-edge'])('npm start also accepts %s', async (name) => {
    const run = await started({ PATH: bin({ ...redis(), [name]: '' }) });
    expect(run.output).not.toContain('answered with 503');
  });
});

function write(path: string, text: string): void {
  const file = join(project, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
}

/** A PATH of one folder that has only these commands. */
function bin(commands: Record<string, string>): string {
  const folder = join(project, 'bin');
  mkdirSync(folder, { recursive: true });
  for (const [name, body] of Object.entries(commands)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

function onPath(name: string): string {
  return process.env['PATH']!.split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file))!;
}

function spawnRun(file: string, args: string[], env: Record<string, string> = {}): Run {
  const {
    REDIS_URL: _redis,
    SANDBOX_URL: _sandbox,
    NODE_ENV: _environment,
    DEMO_PORT: _demo,
    WEBHOOK_EGRESS_ALLOW: _allowed,
    NODE_EXTRA_CA_CERTS: _trusted,
    ROLES: _roles,
    npm_lifecycle_event: _npm,
    ...inherited
  } = process.env;
  const child = spawn(file, args, {
    cwd: project,
    env: { ...inherited, ...ports, DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run: Run = {
    process: child,
    output: '',
    ended: new Promise((resolve) => child.on('close', (code) => resolve(code))),
  };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (run.output += chunk.toString()));
  runs.push(run);
  return run;
}

const start = (env: Record<string, string> = {}): Run => spawnRun(process.execPath, ['scripts/start.mjs'], env);

const started = (env: Record<string, string> = {}): Promise<Run> => ready(start(env));

async function ready(run: Run): Promise<Run> {
  await until(
    'it has started or ended',
    () => run.output.includes('Ctrl-C stops everything') || run.process.exitCode !== null,
  );
  if (run.process.exitCode !== null) throw new Error(`It ended with ${run.process.exitCode}:\n${run.output}`);
  return run;
}

const serviceEnv = (): Record<string, string> => JSON.parse(readFileSync(join(dataDir, 'service.env'), 'utf8'));

/** The processes in the lock file, in the order in which they are ended. */
const children = (): Child[] => holder().flatMap(({ children }) => children);

function holder(): { readonly pid: number; readonly children: Child[] }[] {
  const file = join(dataDir, 'run.json');
  return existsSync(file) ? [JSON.parse(readFileSync(file, 'utf8'))] : [];
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // The process has ended, but its parent has not collected it. Some containers have no process that collects orphans.
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, 'utf8'));
}

async function inRedis<Answer>(use: (redis: Redis) => Promise<Answer>): Promise<Answer> {
  const redis = new Redis(JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')).redisUrl);
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}
