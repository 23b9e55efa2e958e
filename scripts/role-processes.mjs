// Runs the service in several processes: `node scripts/role-processes.mjs projector:9465 worker:9466 api:9467 api:9468`, each with the port of its
// probes, in the order of their start. Processes of the api role share PORT. This process stores no data. This process passes on connections and log
// lines, and restarts dead processes. At the end this process stops all processes in order, the api role first.
import cluster from 'node:cluster';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ROOT } from './installation.mjs';
import { isAlive, localAddress } from './probe.mjs';
import { passWholeLines } from './whole-lines.mjs';

/** Calls to the identity vendor take up to 20 seconds, and the service lets them finish. */
const GRACE_MS = 40_000;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 30_000;
/** A process that has run for this time has started well. */
const STEADY_AFTER_MS = 60_000;

class RoleProcess {
  #worker;
  #ended;
  #failures = 0;
  #stopping = new AbortController();

  constructor(role, port) {
    this.role = role;
    this.port = port;
  }

  /** Resolves when the process answers, and rejects if the process ends before. Afterwards the process is restarted whenever it ends. */
  async start() {
    this.#fork();
    const ended = this.#ended.then((how) => {
      throw new Error(`The ${this.role} (process ${this.#worker.process.pid}) ${how} before it was ready.`);
    });
    ended.catch(() => undefined);
    const address = `http://${localAddress(process.env.METRICS_HOST?.trim() || '127.0.0.1', this.port)}`;
    while (!(await Promise.race([isAlive(address), ended]))) await Promise.race([delay(100), ended]);
    void this.#keep();
  }

  async stop() {
    this.#stopping.abort();
    const killer = setTimeout(() => this.#worker.process.kill('SIGKILL'), GRACE_MS);
    this.#worker?.process.kill('SIGTERM');
    await this.#ended;
    clearTimeout(killer);
  }

  #fork() {
    const worker = cluster.fork({ ROLE: this.role, PROBE_PORT: String(this.port) });
    passWholeLines(worker.process.stdout, process.stdout);
    passWholeLines(worker.process.stderr, process.stderr);
    this.#worker = worker;
    this.#ended = new Promise((resolve) => {
      worker.on('error', (error) => resolve(`could not be started: ${error.message}`));
      worker.on('exit', (code, signal) => resolve(signal ? `was killed by ${signal}` : `ended with exit code ${code}`));
    });
  }

  async #keep() {
    const { signal } = this.#stopping;
    for (;;) {
      const startedAt = Date.now();
      const how = await this.#ended;
      if (signal.aborted) return;
      this.#failures = Date.now() - startedAt > STEADY_AFTER_MS ? 1 : this.#failures + 1;
      const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#failures - 1));
      log('error', { role: this.role, pid: this.#worker.process.pid, how, delayMs }, 'a process is started again');
      await delay(delayMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      this.#fork();
    }
  }
}

/** The line has the format of the service's log. */
function log(level, fields, msg) {
  console.log(JSON.stringify({ level, time: new Date().toISOString(), service: 'screening', ...fields, msg }));
}

for (const stream of [process.stdout, process.stderr]) {
  // The reader of the stream may have ended.
  stream.on('error', () => undefined);
  // Each process adds listeners to this stream.
  stream.setMaxListeners(0);
}

cluster.setupPrimary({
  exec: join(ROOT, 'dist', 'src', 'main.js'),
  args: [],
  // A large young generation, because most of a request's memory is garbage when the request ends.
  execArgv: ['--enable-source-maps', '--max-semi-space-size=64'],
  silent: true,
});

const stopRequest = new Promise((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => resolve());
});
const processes = process.argv.slice(2).map((argument) => new RoleProcess(...argument.split(':')));
const started = [];
let stopping = false;

async function start() {
  // The first process creates the shared files of a new data folder.
  for (const role of new Set(processes.map(({ role }) => role))) {
    if (stopping) return;
    const ofRole = processes.filter((one) => one.role === role);
    started.unshift(ofRole);
    await Promise.all(ofRole.map((one) => one.start()));
  }
}

try {
  await Promise.race([start().then(() => stopRequest), stopRequest]);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
stopping = true;
for (const ofRole of started) await Promise.all(ofRole.map((one) => one.stop()));
process.exit();
