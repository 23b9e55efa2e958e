import { describe, expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import { Health, serveHealth } from '../../../src/platform/http/health.js';
import { lateOf } from '../../../src/platform/subscriptions/projector.module.js';

async function probe(health: Health): Promise<{ readonly status: number; readonly body: unknown }> {
  const server = fastify();
  serveHealth(server, health);
  const { statusCode, body } = await server.inject('/health/ready');
  return { status: statusCode, body: JSON.parse(body) };
}

describe('the readiness probe', () => {
  it('is 200 and lists each check when all checks pass', async () => {
    const health = new Health();
    health.add('redis', () => Promise.resolve(null));
    health.add('disk', () => null);
    expect(await probe(health)).toEqual({ status: 200, body: { status: 'ok', checks: { redis: 'ok', disk: 'ok' } } });
  });

  it('is 503 with the reason of each failing check, for every kind of failure', async () => {
    const health = new Health();
    health.add('redis', () => Promise.resolve('Redis refuses to write: READONLY'));
    health.add('disk', () => 'The disk of the data folder is full.');
    health.add('vault', () => Promise.reject(new Unavailable('S3 cannot be reached.')));
    health.add('event-store', () => Promise.reject(new Unavailable('No answer: connect ECONNREFUSED 10.1.2.3:2113')));
    health.add('projections', () => {
      throw new TypeError('of a fault of ours at 10.1.2.3');
    });
    health.add('log-in-use', () => null);
    expect(await probe(health)).toEqual({
      status: 503,
      body: {
        status: 'unavailable',
        checks: {
          redis: 'failing',
          disk: 'failing',
          vault: 'failing',
          'event-store': 'failing',
          projections: 'failing',
          'log-in-use': 'ok',
        },
        reasons: {
          redis: 'Redis refuses to write: READONLY',
          disk: 'The disk of the data folder is full.',
          vault: 'S3 cannot be reached.',
          // Any caller may use the probe, so the reply names no internal addresses.
          'event-store': 'No answer',
          projections: 'It failed with an error of its own.',
        },
      },
    });
  });

  it('is 503 with the reason when the process is stopping', async () => {
    const health = new Health();
    health.add('disk', () => null);
    health.stop();
    expect(await probe(health)).toEqual({
      status: 503,
      body: { status: 'unavailable', checks: { disk: 'ok' }, reasons: { process: 'The process is stopping.' } },
    });
  });

  it('runs each check once for concurrent probes', async () => {
    let asked = 0;
    const health = new Health();
    health.add('redis', async () => {
      asked += 1;
      return null;
    });
    await Promise.all(Array.from({ length: 10 }, () => health.report()));
    expect(asked).toBe(1);
    await health.report();
    expect(asked).toBe(2);
  });
});

describe('the projections', () => {
  const late = { projection: 'parcels', lagMs: 3_600_000 };

  it('are healthy during the build of one of them, even if the build takes long', () => {
    expect(lateOf([{ ...late, state: 'building' }])).toBeNull();
    expect(lateOf([{ ...late, state: 'standby' }])).toBeNull();
  });

  it('are unhealthy when a live projection is far behind the log, or when a projection has stopped', () => {
    expect(lateOf([{ ...late, state: 'live', lagMs: 29_000 }])).toBeNull();
    expect(lateOf([{ ...late, state: 'live' }])).toBe('The projection parcels is 3600 seconds behind the log.');
    expect(lateOf([{ ...late, state: 'stopped', lagMs: 0 }])).toMatch(/parcels has stopped at an event/);
  });
});
