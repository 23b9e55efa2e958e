// In an installation with compressed older events, every reader sees the same as before.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Service } from '../../support/service.js';

/** Enough screenings to compress the events of the first screening together with later events. */
const SCREENINGS = 60;

let service: Service;

beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

it('ops log compress frees space while the service runs, and leaves statuses, timelines, exports and the audit the same', async () => {
  const demo = await service.signIn('nopay');
  const { id } = (await demo.submit()).body;
  for (let more = 1; more < SCREENINGS; more++) expect((await demo.submit()).status).toBe(200);
  const seen = async (): Promise<unknown[]> => [
    (await demo.status(id)).body,
    (await service.ops('stream', 'show', id)).stdout,
    JSON.parse((await service.ops('audit', 'verify')).stdout).faults,
  ];
  const before = await seen();
  expect(before[2]).toBe(0);

  Object.assign(service.env, { EVENT_LOG_UNCOMPRESSED: '0' });
  const compressed = await service.ops('log', 'compress');
  expect(compressed.exitCode).toBe(0);
  expect(JSON.parse(compressed.stdout).compressedEvents).toBeGreaterThanOrEqual(256);
  expect(await seen()).toEqual(before);
  expect(JSON.parse((await service.ops('log', 'compress')).stdout)).toEqual({ compressedEvents: 0 });

  // A log that can only be read, as in a restored copy, stays byte for byte the same.
  Object.assign(service.env, { ROLE: 'investigation' });
  const looking = await service.ops('log', 'compress');
  expect(looking).toEqual({ exitCode: 1, stdout: expect.stringContaining('can only be read') });
  delete (service.env as Record<string, string | undefined>)['ROLE'];

  // The service builds lost read models again from compressed events.
  await service.program.end('SIGTERM');
  await service.redis.flush();
  await service.startAgain();
  expect((await demo.status(id)).body).toEqual((before as any)[0]);
  expect((await demo.submit()).status).toBe(200);
});
