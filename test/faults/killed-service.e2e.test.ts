// A service is killed while a caller waits. After its restart, the service still keeps its promises about idempotency
// keys (docs/contract/general.md#idempotency-keys).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../support/eventually.js';
import { aPerson, type PlatformCaller, type Reply, Service } from '../support/service.js';

let service: Service;
let demo: PlatformCaller;

beforeAll(async () => {
  service = await Service.start({ VENDOR_TIMEOUT: '4' });
  demo = await service.signIn('demo');
});
afterAll(() => service.stop());

const isReplay = (reply: Reply): boolean => reply.headers.get('idempotent-replayed') === 'true';
const registrations = async (): Promise<number> =>
  (
    (await (await fetch(`${service.sandboxUrl}/control/calls`)).json()) as {
      operations: { registration?: { received: number } };
    }
  ).operations.registration?.received ?? 0;

const status = (id: string): Promise<Reply> => demo.get(`/voie/sessions/${id}/status`);

describe('a service that is killed before it answers', () => {
  it('200: completes the submission under the same key with one session and one vendor call', async () => {
    await service.moveToOwnProcess();
    const headers = { 'idempotency-key': randomUUID() };
    const person = aPerson({ lastName: 'Slowtest' });
    const before = await registrations();
    const lost = demo.post('/screening/submit', person, headers).then(
      () => 'answered',
      () => 'lost',
    );
    await until('the vendor has the call', async () => (await registrations()) === before + 1);
    await service.kill9();
    expect(await lost).toBe('lost');
    await service.startAgain({}, { alone: false });
    const again = await demo.post('/screening/submit', person, headers);
    expect([again.status, isReplay(again)]).toEqual([200, false]);
    await until(
      'the recovery job has settled it',
      async () => (await demo.status(again.body.id)).body.status === 'VERIFIED',
    );
    const third = await demo.post('/screening/submit', person, headers);
    expect([isReplay(third), third.body.id]).toEqual([true, again.body.id]);
    expect(await registrations()).toBe(before + 1);
  });

  it('200: completes an income session that was under way, with one outcome', async () => {
    await service.moveToOwnProcess();
    const screening_session_id = (await demo.submit({ lastName: 'Nopayrolltest' })).body.id;
    const { income_session_id: id } = (await demo.post('/voie/sessions', { screening_session_id })).body;
    await service.kill9();
    await service.startAgain({}, { alone: false });
    await until('it is completed', async () => (await status(id)).body.status === 'COMPLETED');
    expect((await status(id)).body.route).toBe('BANKING');
    expect((await demo.get(`/voie/sessions/${id}/report`)).status).toBe(200);
  });
});
