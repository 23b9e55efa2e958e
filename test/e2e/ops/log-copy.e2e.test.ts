// An installation that is too large for its machine moves its log to EventStoreDB and continues there. The tests use
// the test double of EventStoreDB.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EventStoreDbDouble } from '../../support/eventstoredb-double/server.js';
import { Program, Service } from '../../support/service.js';
import { until } from '../../support/eventually.js';

let service: Service;
let double: EventStoreDbDouble;

beforeAll(async () => {
  [service, double] = await Promise.all([Service.start(), EventStoreDbDouble.start()]);
});
afterAll(async () => {
  await service.stop();
  await double.stop();
});

it('ops log copy moves the log, and the service continues with the copy: old data is readable, and new data is stored', async () => {
  const demo = await service.signIn('nopay');
  const { id } = (await demo.submit()).body;
  const before = (await demo.status(id)).body;

  // The copy runs beside the service. The test kills the copy when the server has stored six appends and no longer
  // answers.
  const taken = { kind: 'delay', until: Promise.resolve() } as const;
  double.faults.plan('batch-append', ...new Array<typeof taken>(5).fill(taken), { kind: 'swallow', stored: true });
  const killed = new Program('dist/src/ops/main.js', service.env, ['log', 'copy', '--to', double.connectionString]);
  killed.spawn();
  await until('the copy has begun', () => double.faults.left('batch-append') === 0 || !killed.running);
  expect([await killed.end('SIGKILL'), killed.output]).toEqual(['SIGKILL', '']);

  const copy = async (...options: string[]): Promise<{ readonly events: number; readonly appended: number }> => {
    const { exitCode, stdout } = await service.ops('log', 'copy', '--to', double.connectionString, ...options);
    const told = JSON.parse(stdout) as { events: number; appended: number; differences: number };
    expect([exitCode, told.differences, told.events]).toEqual([0, 0, double.log.records.length]);
    return told;
  };
  const first = await copy();
  expect(first.appended).toBeLessThan(first.events);
  const waiting = (await demo.submit({ lastName: 'Otptest' })).body.id;
  await service.program.end('SIGTERM');
  const last = await copy();
  expect(last.appended).toBe(last.events - first.events);
  // The copy does not read compared events again, unless the operator requests it.
  await writeFile(join(service.dataDir, 'log-copy.json'), '{"stream":');
  expect(await copy('--compare-all', '--one-by-one')).toMatchObject({ events: last.events, appended: 0 });
  expect(await copy()).toMatchObject({ events: last.events, appended: 0 });

  await service.startAgain({ EVENT_STORE: 'eventstoredb', EVENTSTORE_URL: double.connectionString });
  expect((await demo.status(id)).body).toEqual(before);
  expect((await demo.status(waiting)).body).toMatchObject({ overallStatus: 'STEP_UP_REQUIRED' });
  const next = (await demo.submit()).body.id;
  expect((await demo.status(next)).body).toMatchObject({ overallStatus: 'COMPLETED' });
  // The checkpoints of projections and event handlers belong to the other store and are not valid in the new store.
  await until('all have caught up', async () => {
    const { text } = await service.request('GET', '/metrics');
    const lags = [...text.matchAll(/^(?:projection|event_handler)_lag_seconds\{.*\} (.+)$/gm)].map(([, lag]) =>
      Number(lag),
    );
    return lags.length > 0 && lags.every((lag) => lag === 0);
  });
  expect(service.program.output).not.toMatch(/subscription dropped|event handler interrupted/);

  const foreign = await EventStoreDbDouble.start();
  foreign.write('elsewhere-1', {});
  const local = { ...service.env, EVENT_STORE: 'embedded' };
  Object.assign(service.env, local);
  const refused = await service.ops('log', 'copy', '--to', foreign.connectionString);
  expect([refused.exitCode, refused.stdout.split('\n')[0]]).toEqual([
    1,
    expect.stringContaining('"stream":"elsewhere-1"'),
  ]);
  expect(foreign.log.records).toHaveLength(1);
  await foreign.stop();
});
