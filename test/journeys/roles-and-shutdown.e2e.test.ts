// The service in its roles, each in its own process, and how a process stops.
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../support/redis.js';
import { Program, Service } from '../support/service.js';
import { until } from '../support/eventually.js';

/** Restarts each api process once. */
const RESTARTS = 2;

describe('api, worker and projector in processes of their own', () => {
  let api: Service;
  const others: Program[] = [];
  beforeAll(async () => {
    api = await Service.start({ ROLE: 'api', OTP_RESEND_INTERVAL: '0' }, { alone: ['service'] });
    for (const role of ['worker', 'projector']) {
      const program = new Program('dist/src/main.js', { ...api.env, ROLE: role, PORT: String(await freePort()) });
      program.spawn();
      others.push(program);
    }
    for (const program of others) {
      await until(
        `the ${program.env['ROLE']} is ready`,
        async () =>
          (await fetch(`http://127.0.0.1:${program.env['PORT']}/health/ready`).catch(() => null))?.status === 200,
      );
    }
  });
  afterAll(async () => {
    for (const program of others) await program.end('SIGTERM');
    await api.stop();
  });

  it('together screen a person', async () => {
    const demo = await api.signIn('demo');
    const { id } = (await demo.submit({ lastName: 'Otptest' })).body;
    expect((await demo.post(`/screening/${id}/otp`, { code: '000000' })).body.attemptsRemaining).toBe(2);
    expect((await demo.post(`/screening/${id}/otp`, { code: '123456' })).body).toEqual({ id, status: 'VERIFIED' });
    expect((await demo.status(id)).body.overallStatus).toBe('PAYMENT_PENDING');
  });

  it('serve the API only in the api role', async () => {
    for (const program of others) {
      const response = await fetch(`http://127.0.0.1:${program.env['PORT']}/auth/token/exchange`, { method: 'POST' });
      expect([program.env['ROLE'], response.status]).toEqual([program.env['ROLE'], 404]);
    }
  });
});

describe('several processes of one role', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start(
      { OTP_RESEND_INTERVAL: '0' },
      { roles: ['projector', 'worker', 'worker', 'api', 'api'] },
    );
  });
  afterAll(() => service.stop());

  it('share the port and the data, and each has its own probes', async () => {
    // Every request opens its own connection, which the next process accepts.
    const demo = await service.signIn('demo', undefined, { connection: 'close' });
    const { id } = (await demo.submit({ lastName: 'Otptest' })).body;
    expect((await demo.post(`/screening/${id}/otp`, { code: '000000' })).body.attemptsRemaining).toBe(2);
    expect((await demo.post(`/screening/${id}/otp`, { code: '123456' })).body).toEqual({ id, status: 'VERIFIED' });
    for (let read = 0; read < 4; read++) expect((await demo.status(id)).body.status).toBe('VERIFIED');

    expect(service.processesOf('worker')).toHaveLength(2);
    const apis = service.processesOf('api');
    expect(apis).toHaveLength(2);
    for (const { probes } of apis)
      expect(await (await fetch(`${probes}/metrics`)).text()).toMatch(/route="\/screening\/:\w+\/status",status="200"/);
    expect((await service.request('GET', '/metrics')).status).toBe(404);
  });

  it("pull many reports of one account at once, each for one of the account's credits", async () => {
    const { accountId } = (await service.credentials()).accounts.nopay;
    const credit = async (): Promise<{ balance: number; reserved: number }> =>
      JSON.parse((await service.ops('accounts', 'credit', accountId)).stdout);
    const nopay = await service.signIn('nopay');
    const { balance } = await credit();
    for (let round = 0; round < 2; round++) {
      const sessions = await Promise.all(Array.from({ length: 64 }, async () => (await nopay.submit()).body.id));
      const reports = await Promise.all(sessions.map((id) => nopay.get(`/reports/${id}`)));
      expect(new Set(reports.map(({ status }) => status))).toEqual(new Set([200]));
    }
    await until('all credit is settled', async () => (await credit()).reserved === 0);
    expect((await credit()).balance).toBe(balance - 2 * 64);
  });
});

describe('a rolling restart', () => {
  it('fails no request: a stopping process answers on open connections and tells their callers to close them', async () => {
    const service = await Service.start({}, { roles: ['projector', 'worker', 'api', 'api'] });
    const clients = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    try {
      const nopay = await service.signIn('nopay');
      const { id } = (await nopay.submit()).body;
      const failed: unknown[] = [];
      let answered = 0;
      let restarted = false;
      const ask = async (agent: Agent): Promise<void> => {
        while (!restarted) {
          const status = await statusOver(agent, `${service.baseUrl}/screening/${id}/status`, nopay.headers);
          if (status === 200) answered += 1;
          else failed.push(status);
          // The starting process needs the processor too.
          await pause(40);
        }
      };
      const asking = clients.map(ask);
      for (let restart = 0; restart < RESTARTS; restart++) {
        const before = service.processesOf('api').map(({ pid }) => pid);
        const asked = answered + 50;
        await until('all of them are asking', () => answered > asked);
        process.kill(before[restart % 2] as number, 'SIGTERM');
        await until('another process listens in its place', () => {
          const now = service.processesOf('api').map(({ pid }) => pid);
          return now.length === 2 && now[restart % 2] !== before[restart % 2];
        });
      }
      restarted = true;
      await Promise.all(asking);
      expect(failed).toEqual([]);
      expect(answered).toBeGreaterThan(RESTARTS * 50);
    } finally {
      for (const agent of clients) agent.destroy();
      await service.stop();
    }
  });
});

/**
 * Sends requests over the agent's one connection, which the agent keeps until the server closes it. Returns the code of
 * a failure.
 */
function statusOver(agent: Agent, url: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  return new Promise((resolve) => {
    get(url, { agent, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
      response.on('error', resolve);
    }).on('error', resolve);
  });
}

describe('SIGTERM', () => {
  it.each([
    ['nothing was sent yet', ''],
    ['part of a request has arrived', 'POST /screening/submit HTTP/1.1\r\nhost: x\r\n'],
  ])('does not wait for a connection on which %s', async (_, begun) => {
    const service = await Service.start({}, { alone: ['service'] });
    const { port, hostname } = new URL(service.baseUrl);
    const open = connect({ port: Number(port), host: hostname });
    try {
      const closed = once(open, 'close');
      open.on('error', () => undefined);
      await once(open, 'connect');
      open.write(begun);
      // An answer on a second connection shows that the service has accepted the first connection.
      expect((await service.request('GET', '/health/live')).status).toBe(200);
      expect(await service.program.end('SIGTERM')).toBe(0);
      await closed;
    } finally {
      open.destroy();
      await service.stop();
    }
  });

  it('waits for the answer to a request that is at the vendor, refuses new requests, and exits with 0', async () => {
    const service = await Service.start({ VENDOR_TIMEOUT: '10' }, { alone: ['service'] });
    try {
      const demo = await service.signIn('demo');
      const executed = async (): Promise<number> =>
        (
          (await (await fetch(`${service.sandboxUrl}/control/calls`)).json()) as {
            operations: { registration: { received: number } };
          }
        ).operations.registration.received;
      const running = demo.submit({ lastName: 'Slowtest' });
      await until('the vendor was asked', async () => (await executed()) === 1);
      const ended = service.program.end('SIGTERM');
      const reply = await running;
      expect([reply.status, reply.body.status]).toEqual([200, 'VERIFIED']);
      expect(await ended).toBe(0);
      expect(JSON.parse(service.program.output.trim().split('\n').at(-1) as string).msg).toBe('stopped');
      expect(service.program.output).not.toMatch(/Warning|Node gave a warning/);
      await service.startAgain({}, { alone: false });
      expect((await demo.status(reply.body.id)).body.status).toBe('VERIFIED');
    } finally {
      await service.stop();
    }
  });
});
