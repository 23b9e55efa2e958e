// The service, in one process or in several.
import { join } from 'node:path';
import { ROOT } from './installation.mjs';
import { ensurePortFree, freePort } from './ports.mjs';
import { localAddress, statusOf } from './probe.mjs';

export const SERVICE_READY_WITHIN_MS = 120_000;
/** Calls to the identity vendor take up to 20 seconds, and the service lets them finish. */
const GRACE_MS = 40_000;
/** The roles end one after the other. */
const ROLES_GRACE_MS = 3 * GRACE_MS + 5_000;

export async function startService(config, env, processes, children) {
  const health = (at) => `${at}/health/ready`;
  const main = health(`${config.tls ? 'https' : 'http'}://${localAddress(config.host, config.port)}`);
  const service = {
    name: 'service',
    file: process.execPath,
    // Where production collects logs, it collects them from standard output.
    toTerminal: config.production,
    readyWithinMs: SERVICE_READY_WITHIN_MS,
  };
  if (processes !== null) {
    const ready = processes.map(({ probes }) => health(probes));
    await children.start({
      ...service,
      args: [join(ROOT, 'scripts', 'role-processes.mjs'), ...processes.map(({ role, port }) => `${role}:${port}`)],
      word: 'role-processes.mjs',
      env: { ...env, ROLE: undefined, ROLES: undefined },
      graceMs: ROLES_GRACE_MS,
      isReady: async () => (await Promise.all(ready.map(statusOf))).every((status) => status === 200),
    });
    return;
  }
  await children.start({
    ...service,
    // A large young generation: most of what a request makes is garbage when it ends.
    args: ['--enable-source-maps', '--max-semi-space-size=64', join(ROOT, 'dist', 'src', 'main.js')],
    word: join('dist', 'src', 'main.js'),
    env,
    graceMs: GRACE_MS,
    isReady: async () => (await statusOf(main)) === 200,
  });
}

/** Each process with the port of its probes: METRICS_PORT and those after it, or any that are free. */
export async function placeProcesses({ processes, metricsPort, metricsHost }) {
  const roles = Object.entries(processes).flatMap(([role, count]) => Array(count).fill(role));
  const placed = [];
  for (const [index, role] of roles.entries()) {
    if (metricsPort !== null) await ensurePortFree('METRICS_PORT', metricsPort + index, metricsHost);
    const port = metricsPort === null ? await freePort(placed.map((one) => one.port)) : metricsPort + index;
    placed.push({ role, port, probes: `http://${localAddress(metricsHost, port)}` });
  }
  return placed;
}
