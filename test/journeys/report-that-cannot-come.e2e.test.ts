// A verified person does not pay for a report that the bureau cannot give. A person who has already paid verifies again
// without a new payment (docs/contract/platform.md#payments). The tests remove the bureau's reference for the person
// from the vault, as a fault would.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { developmentMasterKey } from '../../src/adapters/vault/development-key.js';
import { DiskVault } from '../../src/adapters/vault/disk.js';
import { MasterKeys } from '../../src/adapters/vault/master-keys.js';
import { SystemClock } from '../../src/kernel/clock.js';
import { idOf } from '../../src/kernel/domain-event.js';
import { secretsEntry } from '../../src/modules/screening/domain/session.js';
import { DirectCaller } from '../support/direct.js';
import { until } from '../support/eventually.js';
import { Processor, shownEvents } from '../support/processor.js';
import { sessionEvents } from '../support/sessions-in-log.js';
import { aPerson, type PlatformCaller, type Reply, Service } from '../support/service.js';

const FEE = 3_500;

let service: Service;
let processor: Processor;
let demo: PlatformCaller;
let vault: DiskVault;

beforeAll(async () => {
  service = await Service.start();
  processor = new Processor(service.sandboxUrl);
  demo = await service.signIn('demo');
  const keys = MasterKeys.parse(await developmentMasterKey(join(service.dataDir, 'keys')));
  vault = DiskVault.open({ directory: join(service.dataDir, 'vault'), keys, clock: new SystemClock() });
});
afterAll(async () => {
  await vault?.close();
  await service?.stop();
});

const refused = ({ status, body }: Reply): [number, string] => [status, body?.error?.code];
const createIntent = (screeningId: string): Promise<Reply> =>
  demo.post('/payments/create-intent', { amount: FEE, screeningId });

async function loseReference(sessionId: string): Promise<void> {
  const [submitted] = await shownEvents(service, `screening-${sessionId}`);
  await vault.remove((submitted as any).data.subjectId, secretsEntry(sessionId));
}

async function verified(person: object): Promise<string> {
  const { body } = await demo.submit(person);
  expect(body.status).toBe('VERIFIED');
  return body.id;
}

async function paid(sessionId: string): Promise<string> {
  const { body } = await createIntent(sessionId);
  await processor.confirm(body.client_secret, 'pm_card_visa');
  expect((await demo.post(`/payments/${body.transaction_id}/confirm`)).body.status).toBe('SUCCEEDED');
  return body.transaction_id;
}

async function completed(sessionId: string): Promise<any> {
  let body: any;
  await until('it is completed', async () => {
    ({ body } = await demo.status(sessionId));
    return body.overallStatus === 'COMPLETED';
  });
  return body;
}

describe("a verified session without the bureau's reference", () => {
  it('409 REPORT_NOT_AVAILABLE at the payment; the person verifies again and pays for the new session', async () => {
    const person = aPerson({ lastName: 'Alreadytest' });
    const first = await verified(person);
    await loseReference(first);
    const refusal = await createIntent(first);
    expect(refused(refusal)).toEqual([409, 'REPORT_NOT_AVAILABLE']);
    expect(refusal.body.error).toMatchObject({ recoverable: true });

    const again = await verified(person);
    expect((await demo.status(again)).body.overallStatus).toBe('PAYMENT_PENDING');
    await paid(again);
    expect((await demo.get(`/reports/${again}`)).status).toBe(200);
  });

  it('409 even if the payment began earlier', async () => {
    const begun = await verified(aPerson());
    expect((await createIntent(begun)).status).toBe(200);
    await loseReference(begun);
    expect(refused(await createIntent(begun))).toEqual([409, 'REPORT_NOT_AVAILABLE']);
  });

  it('a person who has paid may verify again, and the earlier payment counts for the new session', async () => {
    const person = aPerson({ lastName: 'Alreadytest' });
    const first = await verified(person);
    const transactionId = await paid(first);
    await loseReference(first);
    expect(refused(await demo.get(`/reports/${first}`))).toEqual([410, 'SCREENING_REPORT_EXPIRED']);
    expect(refused(await createIntent(first))).toEqual([409, 'PAYMENT_ALREADY_COMPLETED']);

    const again = await verified(person);
    expect(await completed(again)).toMatchObject({ paymentStatus: 'SUCCEEDED', transactionId });
    expect(refused(await createIntent(again))).toEqual([409, 'PAYMENT_ALREADY_COMPLETED']);
    expect((await demo.get(`/reports/${again}`)).status).toBe(200);
    expect(await processor.money({ transaction: transactionId })).toMatchObject({ succeeded: 1, received: FEE });
    // One payment buys one report. The person is registered again, and the payment no longer counts for the first
    // session.
    expect(refused(await demo.submit(person))).toEqual([409, 'ALREADY_REGISTERED']);
    expect(refused(await demo.get(`/reports/${first}`))).toEqual([402, 'PAYMENT_REQUIRED']);
    expect(refused(await createIntent(first))).toEqual([409, 'REPORT_NOT_AVAILABLE']);
  });

  it('when the person verifies two more sessions, the payment moves to one of them', async () => {
    const person = aPerson();
    const first = await verified(person);
    await paid(first);
    await loseReference(first);
    const [second, third] = [await verified(person), await verified(person)];
    await completed(second);
    expect((await demo.status(third)).body.overallStatus).toBe('PAYMENT_PENDING');
    await loseReference(second);
    await completed(await verified(person));
  });
});

describe("a renter of the direct API without the bureau's reference", () => {
  it('409/409 at the checkout; the renter registers again and may pay', async () => {
    const direct = await DirectCaller.of(service, 'demo');
    const checkout = (): Promise<Reply> =>
      direct.send('POST', '/pay/payment/checkout-session', {
        renterId: 'renter-in-vain',
        successUrl: 'http://localhost:5173/paid',
        cancelUrl: 'http://localhost:5173/canceled',
      });
    const register = (): Promise<Reply> =>
      direct.register('renters', 'renter-in-vain', { lastName: 'Alreadytest', ssn: '666501234' });
    const registered = await register();
    expect(registered.status).toBe(200);
    expect((await register()).status).toBe(409);
    const session = (await sessionEvents(service.dataDir)).findLast(({ data }) => (data as any).partyId !== undefined);
    await loseReference(idOf(session!.stream));
    const refusal = await checkout();
    expect([refusal.status, refusal.body.errors[0].errorCode]).toEqual([409, 409]);
    expect((await register()).status).toBe(200);
    expect((await checkout()).status).toBe(200);
  });
});
