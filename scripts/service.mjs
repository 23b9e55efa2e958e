// The service, in one process or in several.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ROOT } from './installation.mjs';
import { ensurePortFree, freePort } from './ports.mjs';
import { isAlive, localAddress, whyNotReady } from './probe.mjs';

export const SERVICE_READY_WITHIN_MS = 120_000;
/** A process that is not ready by this time keeps running. The process serves the requests that it can, while an operator corrects the fault. */
const READY_AFTER_ANSWERING_MS = 2_000;
/** Calls to the identity vendor take up to 20 seconds, and the service lets them finish. */
const GRACE_MS = 40_000;
/** The roles are ended one after the other. */
const ROLES_GRACE_MS = 3 * GRACE_MS + 5_000;

export async function startService(config, env, processes, children) {
  const main = `${config.tls ? 'https' : 'http'}://${localAddress(config.host, config.port)}`;
  const probed = processes?.map(({ role, probes }) => [role, probes]) ?? [['service', main]];
  const service = {
    name: 'service',
    file: process.execPath,
    // Log collectors of production read standard output.
    toTerminal: config.production,
    dropsLines: true,
    isReady: async () => (await Promise.all(probed.map(([, address]) => isAlive(address)))).every(Boolean),
    readyWithinMs: SERVICE_READY_WITHIN_MS,
  };
  if (processes !== null)
    await children.start({
      ...service,
      args: [join(ROOT, 'scripts', 'role-processes.mjs'), ...processes.map(({ role, port }) => `${role}:${port}`)],
      word: 'role-processes.mjs',
      env: { ...env, ROLE: undefined, ROLES: undefined },
      graceMs: ROLES_GRACE_MS,
    });
  else
    await children.start({
      ...service,
      // A large young generation, because most of a request's memory is garbage when the request ends.
      args: ['--enable-source-maps', '--max-semi-space-size=64', join(ROOT, 'dist', 'src', 'main.js')],
      word: join('dist', 'src', 'main.js'),
      env,
      graceMs: GRACE_MS,
    });
  await Promise.all(probed.map(([name, address]) => tellWhyNotReady(name, address)));
}

async function tellWhyNotReady(name, address) {
  const patience = Date.now() + READY_AFTER_ANSWERING_MS;
  for (;;) {
    const reasons = await whyNotReady(address);
    if (reasons === null) return;
    if (Date.now() > patience) {
      const said = Object.entries(reasons ?? { process: 'It does not answer.' });
      console.error(
        `The ${name} is not ready, and goes on:${said.map(([check, why]) => `\n  ${check}: ${why}`).join('')}`,
      );
      return;
    }
    await delay(100);
  }
}

/** Each process with the port of its probes: METRICS_PORT and the ports after it, or any free ports. */
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
