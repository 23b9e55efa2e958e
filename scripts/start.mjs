// `npm start`: everything the service needs on this machine, then the service; Ctrl-C ends all of it.
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { Children } from './children.mjs';
import { ensureChromium, NO_CHROMIUM } from './chromium.mjs';
import { DataFolderLock } from './data-folder-lock.mjs';
import { ensureBuilt, ensureInstalled, ensureNodeVersion, ROOT } from './installation.mjs';
import { Problem, runCommand } from './problem.mjs';
import { checkForeignRedis, ensureRedisServer, preparePrivateRedis } from './redis.mjs';
import { welcome } from './welcome.mjs';

const SERVICE_READY_WITHIN_MS = 120_000;
/** Calls to the identity vendor take up to 20 seconds, and the service lets them finish. */
const SERVICE_GRACE_MS = 40_000;
const GRACE_MS = 15_000;

// A terminal that is gone must not keep us from stopping what we started.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

await runCommand(async () => {
  ensureNodeVersion();
  const settings = readSettings(process.env);
  const stopRequest = listenForSignals();
  const lock = await DataFolderLock.take(settings.dataDir, 'start.mjs');
  const children = new Children(lock, join(settings.dataDir, 'logs'));
  try {
    await Promise.race([start(settings, lock, children), stopRequest, children.death]);
    await Promise.race([stopRequest, children.death]);
  } finally {
    lock.set({ stopping: true });
    await children.stop();
    lock.release();
  }
  console.log('Stopped. All data is kept; npm start resumes with it.');
});
// An interrupted start may have an install or a connection attempt under way, and nobody waits for it any more.
process.exit();

function readSettings(env) {
  const port = portOf(env, 'PORT', 3000);
  const production = env.NODE_ENV === 'production';
  const runsSandbox = !production && !env.SANDBOX_URL;
  const sandboxPort = portOf(env, 'SANDBOX_PORT', port + 1);
  return {
    production,
    port,
    host: env.HOST || (production ? '0.0.0.0' : '127.0.0.1'),
    sandboxPort: runsSandbox ? sandboxPort : null,
    sandboxUrl: runsSandbox ? `http://127.0.0.1:${sandboxPort}` : (env.SANDBOX_URL ?? null),
    dataDir: resolve(ROOT, env.DATA_DIR || '.data'),
    redisUrl: env.REDIS_URL || null,
    tls: Boolean(env.TLS_CERT),
  };
}

function portOf(env, name, fallback) {
  const port = Number(env[name] || fallback);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Problem(`${name} must be a port number from 1 to 65535.`);
  return port;
}

/** The terminal sends Ctrl-C to npm and to us, and npm passes it on: more of them ask for nothing new. */
function listenForSignals() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, resolve);
    if (process.env.npm_lifecycle_event) whenParentIsGone(resolve);
  }).then(() => console.log('\nStopping ...'));
}

/** An npm that was killed outright passes no signal on, and nobody would know how to stop us. */
function whenParentIsGone(callback) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    callback();
  }, 500);
  watch.unref();
}

async function start(settings, lock, children) {
  ensureInstalled();
  ensureBuilt();
  await ensurePortFree('PORT', settings.port, settings.host);
  if (settings.sandboxPort !== null) await ensurePortFree('SANDBOX_PORT', settings.sandboxPort, '127.0.0.1');

  const redisUrl = settings.redisUrl ?? (await startPrivateRedis(settings, children));
  if (settings.redisUrl !== null) await checkForeignRedis(settings.redisUrl);
  if (!ensureChromium()) console.error(`PDFs are answered with 503: there is ${NO_CHROMIUM}.`);
  lock.set({ redisUrl });

  const env = {
    ...process.env,
    PORT: String(settings.port),
    DATA_DIR: settings.dataDir,
    REDIS_URL: redisUrl,
    ...(settings.sandboxUrl === null ? {} : { SANDBOX_URL: settings.sandboxUrl }),
    ...(settings.sandboxPort === null ? {} : { SANDBOX_PORT: String(settings.sandboxPort) }),
  };
  if (settings.sandboxPort !== null) await startSandbox(settings, env, children);
  await startService(settings, env, children);

  const address = `${settings.tls ? 'https' : 'http'}://localhost:${settings.port}`;
  lock.set({ address });
  console.log(welcome({ address, sandboxUrl: settings.sandboxUrl, dataDir: settings.dataDir, credentials: readDemoCredentials(settings) }));
}

async function startPrivateRedis(settings, children) {
  const { url, command, isReady, readyWithinMs } = await preparePrivateRedis(ensureRedisServer(), settings.dataDir);
  await children.start({ name: 'redis', ...command, graceMs: GRACE_MS, isReady, readyWithinMs });
  return url;
}

async function startSandbox(settings, env, children) {
  await children.start({
    name: 'sandbox',
    file: process.execPath,
    args: ['--enable-source-maps', join(ROOT, 'dist', 'sandbox', 'main.js')],
    word: join('sandbox', 'main.js'),
    env,
    graceMs: GRACE_MS,
    // Any answer will do: the sandbox listens once it can serve.
    isReady: async () => (await statusOf(settings.sandboxUrl)) !== undefined,
    readyWithinMs: SERVICE_READY_WITHIN_MS,
  });
}

async function startService(settings, env, children) {
  const host = ['0.0.0.0', '::'].includes(settings.host) ? '127.0.0.1' : settings.host;
  const ready = `${settings.tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${settings.port}/health/ready`;
  await children.start({
    name: 'service',
    file: process.execPath,
    // A large young generation: most of what a request makes is garbage when it ends.
    args: ['--enable-source-maps', '--max-semi-space-size=64', join(ROOT, 'dist', 'main.js')],
    word: join('dist', 'main.js'),
    env,
    // Where production collects logs, it collects them from standard output.
    toTerminal: settings.production,
    graceMs: SERVICE_GRACE_MS,
    isReady: async () => (await statusOf(ready)) === 200,
    readyWithinMs: SERVICE_READY_WITHIN_MS,
  });
}

/** The status of a GET, or undefined while nobody answers. */
function statusOf(url) {
  return new Promise((resolve) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    // The certificate is for the public name and is not what is asked here.
    const request = send(url, { rejectUnauthorized: false, timeout: 5_000, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
    request.end();
  });
}

function ensurePortFree(name, port, host) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', (error) => {
      reject(new Problem(`Port ${port} cannot be used (${error.code === 'EADDRINUSE' ? 'another program listens on it' : error.code}); set ${name} to another one.`));
    });
    server.listen({ port, host, exclusive: true }, () => server.close(resolve));
  });
}

function readDemoCredentials({ production, dataDir }) {
  if (production) return null;
  try {
    return JSON.parse(readFileSync(join(dataDir, 'demo-credentials.json'), 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}
