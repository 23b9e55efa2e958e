// A process with another data folder must not start on the Redis of a running service. Such a process would use read
// models, checkpoints and queues that belong to the other log.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../support/eventually.js';
import { freePort } from '../support/redis.js';
import { Program, Service } from '../support/service.js';

let service: Service;
let elsewhere: string;
beforeAll(async () => {
  elsewhere = await mkdtemp(join(tmpdir(), 'another-log-'));
  service = await Service.start({}, { alone: ['service'] });
});
afterAll(async () => {
  await service.stop();
  await rm(elsewhere, { recursive: true, force: true });
});

describe('a process with another log', () => {
  it('does not start on the Redis of a running service, and gives the reason in one sentence', async () => {
    const demo = await service.signIn('demo');
    const { id } = (await demo.submit()).body;
    const other = await spawnElsewhere();
    expect(await other.ended()).toBe(2);
    expect(other.output).toMatch(/^REDIS_URL is the Redis of a service that runs on another event log; .*\n$/);
    expect((await demo.status(id)).status).toBe(200);
    expect((await service.request('GET', '/health/ready')).status).toBe(200);
  });

  it('starts when the first process was killed, and is unready because Redis belongs to the other log', async () => {
    await service.kill9();
    const other = await spawnElsewhere();
    const health = async (path: string): Promise<Response | null> =>
      fetch(`http://127.0.0.1:${other.env['PORT']}/health/${path}`).catch(() => null);
    await until('it listens', async () => (await health('live'))?.ok === true);
    await until('it has noticed', async () => {
      const { checks } = (await (await health('ready'))?.json()) as { checks: Record<string, string> };
      return checks['event-log'] === 'failing' && checks['log-in-use'] === 'ok';
    });
    expect(await other.end('SIGTERM')).toBe(0);
  });
});

async function spawnElsewhere(): Promise<Program> {
  const port = String(await freePort());
  const env = { ...service.env, DATA_DIR: elsewhere, PORT: port, ROLE: 'worker', LOG_LEVEL: 'fatal' };
  const other = new Program('dist/src/main.js', env);
  other.spawn();
  return other;
}
