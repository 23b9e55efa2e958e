// A process that runs the services and sandboxes of tests, each as if in a process of its own. The process has loaded
// the built program once. The environment of the tests starts one such process for each Jest worker. A stopped program
// leaves nothing behind.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers';
import { startVendors } from '../../dist/sandbox/vendors.js';
import { BullMqDeliveryQueue } from '../../dist/src/adapters/delivery-queue/bullmq.js';
import { readConfig } from '../../dist/src/config/config.js';
import { SystemClock } from '../../dist/src/kernel/clock.js';
import { createLog } from '../../dist/src/platform/observability/log.js';
import { LogOutput } from '../../dist/src/platform/observability/log-output.js';
import { Metrics } from '../../dist/src/platform/observability/metrics.js';
import { createService } from '../../dist/src/service.js';
import { findVendors } from '../../dist/src/vendor-kit/registry.js';
import { freePort } from './free-port.mjs';

/** The milliseconds by which a test has moved the clock of the services forward. */
let aheadMs = 0;
const { now } = Date;
Date.now = () => now() + aheadMs;
SystemClock.prototype.now = () => new Date(Date.now());

// The delivery queue uses the clock of the machine, which no test changes.
const { enqueue } = BullMqDeliveryQueue.prototype;
BullMqDeliveryQueue.prototype.enqueue = function (delivery, at, sooner) {
  return enqueue.call(this, delivery, new Date(at.getTime() - aheadMs), sooner);
};

/** Keyed by the id of the question that started the program. */
const running = new Map();

const PROGRAMS = {
  async service(env, say) {
    const vendors = await findVendors();
    const config = readConfig(env, { vendors });
    const metrics = new Metrics();
    const output = new LogOutput(
      async (bytes) => {
        say(bytes.toString());
        return bytes.length;
      },
      (lines) => metrics.logLinesDropped.inc(lines),
    );
    const log = createLog(config.process.logLevel, config.process.role, output);
    const service = await createService(config, vendors, log, metrics);
    try {
      await service.start();
    } catch (error) {
      await service.stop();
      throw error;
    }
    return async () => {
      await service.stop();
      await output.flushed(1_000);
    };
  },
  async sandbox(env) {
    const sandbox = await startVendors(env);
    return () => sandbox.close();
  },
};

/** Starts Redis, a sandbox and a service, which run until this process ends. Resolves with the service's environment. */
async function keep(env, say) {
  const folder = mkdtempSync(join(tmpdir(), 'shared-service-'));
  const [port, sandboxPort, redisPort] = (await Promise.all([freePort(), freePort(), freePort()])).map(String);
  const redis = spawn('redis-server', ['--port', redisPort, '--bind', '127.0.0.1', '--dir', folder, '--save', ''], {
    stdio: 'ignore',
  });
  process.once('disconnect', () => {
    redis.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const whole = {
    PORT: port,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    SANDBOX_PORT: sandboxPort,
    SANDBOX_URL: `http://127.0.0.1:${sandboxPort}`,
    DATA_DIR: join(folder, 'data'),
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    ...env,
  };
  await PROGRAMS.sandbox(whole);
  await PROGRAMS.service(whole, say);
  return whole;
}

async function answer({ id, start, env, stop, turn = 0, keep: kept }) {
  if (kept !== undefined) return keep(kept, tell(id));
  aheadMs = stop === undefined ? aheadMs + turn : 0;
  if (turn !== 0) return id;
  if (start !== undefined) {
    running.set(id, { say: tell(id), stop: await PROGRAMS[start](env, tell(id)) });
    return id;
  }
  for (const each of stop === 'all' ? [...running.keys()].reverse() : [stop]) {
    const program = running.get(each);
    running.delete(each);
    await program?.stop();
  }
}

const tell = (id) => (said) => process.send({ id, said });

process.on('message', (question) => {
  answer(question).then(
    (result) => process.send({ id: question.id, result }),
    (error) => process.send({ id: question.id, error: String(error?.stack ?? error) }),
  );
});
process.on('unhandledRejection', (error) => {
  // The line has the form of a service's log. Every program logs the line, because the source of the rejection is
  // unknown.
  for (const { say } of running.values())
    say(`{"msg":"unhandled rejection","err":${JSON.stringify(String(error?.stack))}}\n`);
});
process.on('disconnect', () => setImmediate(() => process.kill(process.pid, 'SIGKILL')));
