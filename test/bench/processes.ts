// (m) The service in several processes compared with one process on the same cores. The result shows the cost of the
// split and the load of each process.
import { Pool } from 'undici';
import { ALONE, type Role, Service, type StartOptions } from '../support/service.js';
import type { Caller } from './caller.js';
import { compare, type Operation, type Side, tellHeader } from './comparison.js';
import { reading, submission, submitted } from './operations.js';

const ROLES: readonly Role[] = ['projector', 'worker', 'api', 'api'];
const CONNECTIONS = 64;

interface Running {
  readonly service: Service;
  readonly side: Side;
  readonly page: Caller;
}

export async function benchProcesses(): Promise<void> {
  const running: Running[] = [];
  try {
    running.push(await start('roles', { roles: ROLES }), await start('all', {}));
    const [roles, all] = running as [Running, Running];
    process.stdout.write(`(m) roles: the parent, ${ROLES.join(', ')}; all: one process\n`);
    tellHeader();
    const beside = async (
      name: string,
      counts: Record<number, number>,
      operation: (page: Caller) => Operation | Promise<Operation>,
    ) =>
      compare({
        name,
        ours: { ...roles.side, operation: await operation(roles.page) },
        other: { ...all.side, operation: await operation(all.page) },
        counts,
      });
    await beside('submit', { 64: 1_500, 8: 600, 1: 200 }, submission);
    await beside('status', { 64: 8_000, 1: 1_000 }, async (page) =>
      reading(page, `/screening/${await submitted(page)}/status`),
    );
  } finally {
    for (const { service } of running) await service.stop();
  }
}

async function start(name: string, options: StartOptions): Promise<Running> {
  const service = await Service.start({}, { alone: ALONE, ...options });
  const { headers } = await service.signIn('nopay');
  const pids = ROLES.filter((role, index) => ROLES.indexOf(role) === index)
    .flatMap((role) => service.processesOf(role))
    .map(({ pid }) => pid);
  return {
    service,
    side: { name, pids: [service.program.pid ?? 0, ...pids], redis: service.redis },
    page: {
      pool: new Pool(service.baseUrl, { connections: CONNECTIONS }),
      headers: { ...headers, 'content-type': 'application/json' },
    },
  };
}
