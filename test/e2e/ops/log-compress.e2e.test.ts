// An installation whose older events are compressed: whoever looks at them sees what was there before.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Service } from '../../support/service.js';

/** Enough for the events of the first screening to be compressed together with those after it. */
const SCREENINGS = 60;

let service: Service;

beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

it('ops log compress makes room beside the service, and statuses, timelines, exports and the audit are what they were', async () => {
  const demo = await service.signIn('nopay');
  const { id } = (await demo.submit()).body;
  for (let more = 1; more < SCREENINGS; more++) expect((await demo.submit()).status).toBe(200);
  const seen = async (): Promise<unknown[]> => [
    (await demo.status(id)).body,
    (await service.ops('stream', 'show', id)).stdout,
    JSON.parse((await service.ops('audit', 'verify')).stdout),
  ];
  const before = await seen();
  expect(before[2]).toMatchObject({ faults: 0 });

  Object.assign(service.env, { EVENT_LOG_UNCOMPRESSED: '0' });
  const compressed = await service.ops('log', 'compress');
  expect(compressed.exitCode).toBe(0);
  expect(JSON.parse(compressed.stdout).compressedEvents).toBeGreaterThanOrEqual(256);
  expect(await seen()).toEqual(before);
  expect(JSON.parse((await service.ops('log', 'compress')).stdout)).toEqual({ compressedEvents: 0 });

  // Where one may only look, as in what was restored, the log stays byte for byte as it was.
  Object.assign(service.env, { ROLE: 'investigation' });
  const looking = await service.ops('log', 'compress');
  expect(looking).toEqual({ exitCode: 1, stdout: expect.stringContaining('can only be read') });
  delete (service.env as Record<string, string | undefined>)['ROLE'];

  // Read models that are lost are made of what is compressed.
  await service.program.end('SIGTERM');
  await service.redis.flush();
  await service.startAgain();
  expect((await demo.status(id)).body).toEqual((before as any)[0]);
  expect((await demo.submit()).status).toBe(200);
});
