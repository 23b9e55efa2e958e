// `npm start`: starts everything that the service needs on this machine, and then the service. Ctrl-C ends all processes.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Children } from './children.mjs';
import { ensureChromium, NO_CHROMIUM } from './chromium.mjs';
import { DataFolderLock } from './data-folder-lock.mjs';
import { prepareReceiver } from './demo/receiver.mjs';
import { ensureBuilt, ensureInstalled, ensureNodeVersion, ROOT } from './installation.mjs';
import { ensurePortFree } from './ports.mjs';
import { statusOf } from './probe.mjs';
import { Problem, runCommand } from './problem.mjs';
import { only } from './programs.mjs';
import { checkForeignRedis, ensureRedisServer, preparePrivateRedis } from './redis.mjs';
import { placeProcesses, SERVICE_READY_WITHIN_MS, startService } from './service.mjs';
import { welcome } from './welcome.mjs';

const GRACE_MS = 15_000;
/** The variables that the sandbox reads beside those of its doubles. The sandbox plays vendors, so it must not see the service's keys. */
const FOR_SANDBOX = [
  'PATH',
  'PORT',
  'INTERNAL_PORT',
  'DATA_DIR',
  'SANDBOX_HOST',
  'SANDBOX_PORT',
  'SANDBOX_SLOWNESS',
  'SANDBOX_NOTICES_URL',
];

/** The variables that the demo page's server reads. The server's only keys are those in the file of the demo credentials. */
const FOR_DEMO = ['PATH', 'DATA_DIR', 'DEMO_PORT', 'DEMO_WITHOUT_WEBHOOKS', 'NODE_EXTRA_CA_CERTS'];

// A closed terminal must not prevent this process from stopping its children.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

await runCommand(async () => {
  ensureNodeVersion();
  const dataDir = resolve(ROOT, process.env.DATA_DIR || '.data');
  const stopRequest = listenForSignals();
  const lock = await DataFolderLock.take(dataDir, 'start.mjs');
  const children = new Children(lock, join(dataDir, 'logs'));
  try {
    await Promise.race([start(dataDir, lock, children), stopRequest, children.death]);
    await Promise.race([stopRequest, children.death]);
  } finally {
    try {
      lock.set({ stopping: true });
    } catch {
      // A full disk must not prevent this process from stopping its children.
    }
    await children.stop();
    lock.release();
  }
  console.log('Stopped. All data is kept; npm start resumes with it.');
});
// An interrupted start may still be installing or connecting. The process ends without waiting for this work.
process.exit();

/**
 * The whole environment as the service will see it. The service's own rules read the environment. These rules exist when the service is built. Faults
 * are reported before any process starts.
 */
async function readConfiguration(dataDir) {
  const [{ readConfig }, { InvalidConfig }, { findVendors }] = await Promise.all(
    ['config/config.js', 'config/variables.js', 'vendor-kit/registry.js'].map(
      (file) => import(pathToFileURL(join(ROOT, 'dist', 'src', file))),
    ),
  );
  const ownRedis = !process.env.REDIS_URL?.trim();
  try {
    // The address of the private Redis is known only when this Redis runs.
    const {
      process: role,
      http,
      vendors,
      dataFolder,
      redis,
    } = readConfig(
      { ...process.env, DATA_DIR: dataDir, ...(ownRedis && { REDIS_URL: 'redis://127.0.0.1' }) },
      { lowestPort: 1, vendors: await findVendors() },
    );
    // An investigation calls no vendor.
    const sandbox = role.role === 'investigation' ? { sandboxPort: null, sandboxUrl: null } : vendors;
    return {
      production: role.production,
      port: http.port,
      host: http.host,
      tls: http.tls,
      processes: role.processes,
      metricsPort: http.metricsPort,
      metricsHost: http.metricsHost,
      // The demo page needs demo keys and an API.
      demo: role.demoAccounts && !role.readOnly && ['all', 'api'].includes(role.role),
      demoPort: process.env.DEMO_PORT?.trim() ? http.demoPort : null,
      sandboxPort: sandbox.sandboxPort,
      sandboxUrl: sandbox.sandboxUrl,
      dataDir: dataFolder.path,
      redisUrl: ownRedis ? null : redis.url,
    };
  } catch (error) {
    throw error instanceof InvalidConfig ? new Problem(error.message) : error;
  }
}

/** Resolves on the first signal. The terminal sends Ctrl-C to npm and to this process, and npm passes it on, so more signals follow. */
function listenForSignals() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, resolve);
    if (process.env.npm_lifecycle_event) whenParentIsGone(resolve);
  }).then(() => console.log('\nStopping ...'));
}

/** A killed npm passes on no signal, so its user could no longer stop this process. */
function whenParentIsGone(callback) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    callback();
  }, 500);
  watch.unref();
}

async function start(dataDir, lock, children) {
  ensureInstalled();
  ensureBuilt();
  const config = await readConfiguration(dataDir);
  await ensurePortsFree(config);

  const processes = config.processes && (await placeProcesses(config));

  const redisUrl = config.redisUrl ?? (await startPrivateRedis(config, children));
  if (config.redisUrl !== null) await checkForeignRedis(config.redisUrl);
  if (!ensureChromium()) console.error(`PDFs are answered with 503: there is ${NO_CHROMIUM}.`);
  lock.set({ redisUrl });

  const env = environmentOf(config, redisUrl);
  const demo = config.demo ? await startDemo(config, env, children) : null;
  if (config.sandboxPort !== null) await startSandbox(config, env, children);
  const witness = await sandboxWitness(config);
  await startService(config, { ...witness, ...env, ...demo?.serviceEnv }, processes, children);

  const address = `${config.tls ? 'https' : 'http'}://localhost:${config.port}`;
  lock.set({ address, ...(processes && { processes }) });
  console.log(
    welcome({
      demoUrl: demo?.url ?? null,
      address,
      processes,
      sandboxUrl: config.sandboxUrl,
      dataDir: config.dataDir,
      credentials: readDemoCredentials(config),
    }),
  );
}

async function ensurePortsFree(config) {
  await ensurePortFree('PORT', config.port, config.host);
  if (config.sandboxPort !== null) await ensurePortFree('SANDBOX_PORT', config.sandboxPort, '127.0.0.1');
  if (config.demo && config.demoPort !== null) await ensurePortFree('DEMO_PORT', config.demoPort, '127.0.0.1');
}

function environmentOf(config, redisUrl) {
  return {
    ...process.env,
    PORT: String(config.port),
    DATA_DIR: config.dataDir,
    REDIS_URL: redisUrl,
    ...(config.sandboxUrl === null ? {} : { SANDBOX_URL: config.sandboxUrl }),
    ...(config.sandboxPort === null ? {} : { SANDBOX_PORT: String(config.sandboxPort) }),
  };
}

async function startPrivateRedis(config, children) {
  const { url, command, isReady, readyWithinMs } = await preparePrivateRedis(ensureRedisServer(), config.dataDir);
  await children.start({ name: 'redis', ...command, graceMs: GRACE_MS, isReady, readyWithinMs });
  return url;
}

/** The demo page starts before the service, which needs the page's port and the address of its webhooks. */
async function startDemo(config, env, children) {
  const { missing = '', serviceEnv } = await prepareReceiver(config.dataDir, env);
  const portFile = join(config.dataDir, 'demo', 'port');
  rmSync(portFile, { force: true });
  let port;
  await children.start({
    name: 'demo',
    file: process.execPath,
    args: [join(ROOT, 'scripts', 'demo', 'server.mjs')],
    word: join('demo', 'server.mjs'),
    env: only(FOR_DEMO, { ...env, DEMO_PORT: String(config.demoPort ?? ''), DEMO_WITHOUT_WEBHOOKS: missing }),
    graceMs: GRACE_MS,
    isReady: () => {
      port = existsSync(portFile) ? readFileSync(portFile, 'utf8') : undefined;
      return port !== undefined;
    },
    readyWithinMs: SERVICE_READY_WITHIN_MS,
  });
  return { url: `http://localhost:${port}`, serviceEnv: { DEMO_PORT: port, ...serviceEnv } };
}

async function startSandbox(config, env, children) {
  const { findDoubles } = await import(pathToFileURL(join(ROOT, 'dist', 'sandbox', 'doubles.js')));
  const variables = (await findDoubles()).flatMap(({ double }) => Object.keys(double.variables));
  await children.start({
    name: 'sandbox',
    file: process.execPath,
    args: ['--enable-source-maps', join(ROOT, 'dist', 'sandbox', 'main.js')],
    word: join('sandbox', 'main.js'),
    env: only([...FOR_SANDBOX, ...variables], env),
    graceMs: GRACE_MS,
    // Any answer is enough, because the sandbox listens only when it can serve requests.
    isReady: async () => (await statusOf(config.sandboxUrl)) !== undefined,
    readyWithinMs: SERVICE_READY_WITHIN_MS,
  });
}

/** Outside production, the sandbox's witness cosigns the checkpoints of the log unless SEAL_WITNESSES is set. */
async function sandboxWitness({ production, sandboxPort, sandboxUrl }) {
  if (production || sandboxPort === null) return {};
  const { SANDBOX_WITNESS_KEY } = await import(pathToFileURL(join(ROOT, 'dist', 'sandbox', 'witness.js')));
  return { SEAL_WITNESSES: `${SANDBOX_WITNESS_KEY} ${sandboxUrl}/witness` };
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
