// An installation that has outgrown its machine moves its log to EventStoreDB, here the double, and goes on there.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EventStoreDbDouble } from '../../support/eventstoredb-double/server.js';
import { Service } from '../../support/service.js';
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

it('ops log copy moves the log, and the service goes on with it: what was is still read, and what comes is stored', async () => {
  const demo = await service.signIn('nopay');
  const { id } = (await demo.submit()).body;
  const before = (await demo.status(id)).body;
  await service.program.end('SIGTERM');

  const copied = await service.ops('log', 'copy', '--to', double.connectionString);
  expect([copied.exitCode, JSON.parse(copied.stdout)]).toEqual([
    0,
    expect.objectContaining({ differences: 0, events: double.log.records.length }),
  ]);

  await service.startAgain({ EVENT_STORE: 'eventstoredb', EVENTSTORE_URL: double.connectionString });
  expect((await demo.status(id)).body).toEqual(before);
  const next = (await demo.submit()).body.id;
  expect((await demo.status(next)).body).toMatchObject({ overallStatus: 'COMPLETED' });
  // Projections and reactions had come to a place of the other store, which means nothing here.
  await until('all have caught up', async () => {
    const { text } = await service.request('GET', '/metrics');
    const lags = [...text.matchAll(/^(?:projection|reaction)_lag_seconds\{.*\} (.+)$/gm)].map(([, lag]) => Number(lag));
    return lags.length > 0 && lags.every((lag) => lag === 0);
  });
  expect(service.program.output).not.toMatch(/subscription dropped|reaction interrupted/);

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
