// A service is killed again and again while it seals the log. Every published checkpoint has its tiles, and the next
// start continues the tree.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '../support/eventually.js';
import { ALONE, Service } from '../support/service.js';

let service: Service;

beforeAll(async () => {
  service = await Service.start({ SEAL_INTERVAL: '1' }, { alone: ALONE });
});
afterAll(() => service?.stop());

const file = (name: string): string => join(service.dataDir, 'transparency', name);
const sizeOf = (name: string): number => {
  try {
    return Number(readFileSync(file(name), 'utf8').split('\n')[1]);
  } catch {
    return 0;
  }
};

it('seals every event once, whenever it is killed', async () => {
  const signed = (): number => Math.max(sizeOf('checkpoint.next'), sizeOf('checkpoint'));
  for (let round = 0; round < 3; round++) {
    const before = signed();
    const demo = await service.signIn('demo');
    await Promise.all(Array.from({ length: 4 }, () => demo.submit()));
    // The kill comes at the first sign of the next checkpoint, before or while the tiles are written. The lease of the
    // process that was killed before ends after half a minute.
    await until('the next checkpoint is signed', () => signed() > before, 120_000);
    await service.kill9();
    const { exitCode, stdout } = await service.ops('audit', 'verify');
    expect({ stdout, exitCode }).toMatchObject({ exitCode: 0 });
    await service.startAgain();
  }
  const { events } = JSON.parse((await service.ops('audit', 'verify')).stdout.trim().split('\n').at(-1) ?? '{}') as {
    events: number;
  };
  await until('all events are sealed', () => sizeOf('checkpoint') >= events, 120_000);
  const { exitCode, stdout } = await service.ops('audit', 'verify');
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
  const served = await fetch(`${service.baseUrl}/transparency/checkpoint`);
  expect(served.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(Number((await served.text()).split('\n')[1])).toBeGreaterThanOrEqual(events);
  expect((await fetch(`${service.baseUrl}/transparency/resume.json`)).status).toBe(404);
  const forwarded = { 'x-forwarded-for': '203.0.113.9' };
  expect((await fetch(`${service.baseUrl}/transparency/checkpoint`, { headers: forwarded })).status).toBe(404);
});
