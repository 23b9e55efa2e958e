// kill -9 of the whole service while money moves: between a charge and its record, and between the pull of a report and
// its record. Afterwards every consumer was charged once and every report was billed and debited once. The log records
// each charge, bill and debit once.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { categoryOf, idOf, type RecordedEvent } from '../../src/kernel/domain-event.js';
import { intentIn, Processor } from '../support/processor.js';
import { ALONE, aPerson, type PlatformCaller, Service } from '../support/service.js';
import { until } from '../support/eventually.js';

const FEE = 3_500;
const ROUNDS = 3;
const CALLERS = 6;

let service: Service;
let processor: Processor;
let demo: PlatformCaller;
let nopay: PlatformCaller;

beforeAll(async () => {
  service = await Service.start({ VENDOR_TIMEOUT: '4', LOG_LEVEL: 'warn' }, { alone: ALONE });
  processor = new Processor(service.sandboxUrl);
  [demo, nopay] = await Promise.all([service.signIn('demo'), service.signIn('nopay')]);
});
afterAll(() => service?.stop());

interface Open {
  readonly id: string;
  readonly transactionId: string;
  readonly secret: string;
}

/** The acknowledged results: every session with a payment, and the sessions whose card the processor has charged. */
const opened = new Map<string, Open>();
const charged = new Set<string>();

async function verified(caller: PlatformCaller, lastName = 'Example'): Promise<string> {
  const { status, body } = await caller.submit(aPerson({ lastName }));
  if (status !== 200 || body.status !== 'VERIFIED') throw new Error(`Submit answered ${status}`);
  return body.id;
}

async function open(id: string): Promise<Open> {
  const { status, body } = await demo.post('/payments/create-intent', { amount: FEE, screeningId: id });
  if (status !== 200) throw new Error(`Create-intent answered ${status}`);
  const payment = { id, transactionId: body.transaction_id, secret: body.client_secret };
  opened.set(id, payment);
  return payment;
}

async function pay({ id, secret }: Open, method = 'pm_card_visa'): Promise<void> {
  const { status } = await processor.confirm(secret, method);
  if (status !== 200) throw new Error(`The processor answered ${status}`);
  charged.add(id);
}

/** One consumer after another, from the form to the report. */
async function consumers(signal: AbortSignal): Promise<void> {
  for (let count = 0; !signal.aborted; count += 1) {
    try {
      const payment = await open(await verified(demo));
      await pay(payment, count % 3 === 2 ? 'pm_usBankAccount' : 'pm_card_visa');
      await demo.post(`/payments/${payment.transactionId}/confirm`);
      await demo.get(`/reports/${payment.id}`);
    } catch {
      // The service was killed during the request. The service acknowledged nothing, and the request may have had any
      // effect.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

async function calls(): Promise<{
  readonly operations: { readonly report: { readonly received: number; readonly billed: number } };
  readonly executedTwice: readonly string[];
}> {
  return (await (await fetch(`${service.sandboxUrl}/control/calls`)).json()) as Awaited<ReturnType<typeof calls>>;
}

async function creditOf(account: 'demo' | 'nopay'): Promise<{ readonly balance: number; readonly reserved: number }> {
  const { stdout } = await service.ops('accounts', 'credit', (await service.credentials()).accounts[account].accountId);
  return JSON.parse(stdout.trim().split('\n').at(-1) as string);
}

/** When a pull was interrupted, its report is debited within seconds of the next start. */
function noCreditIsSetAside(account: 'demo' | 'nopay'): Promise<void> {
  return until('no credit is set aside', async () => (await creditOf(account)).reserved === 0);
}

async function log(): Promise<RecordedEvent[]> {
  const store = EmbeddedEventStore.open({ directory: join(service.dataDir, 'events') });
  try {
    const all: RecordedEvent[] = [];
    for (
      let page = await store.readAll(null, 1_000);
      page.length > 0;
      page = await store.readAll(page.at(-1)?.position ?? null, 1_000)
    )
      all.push(...page);
    return all;
  } finally {
    await store.close();
  }
}

/** The number of events of a type in each stream of a category, by the id of the stream. */
function countOf(all: readonly RecordedEvent[], category: string, type: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const event of all)
    if (categoryOf(event.stream) === category && event.type === type)
      counts.set(idOf(event.stream), (counts.get(idOf(event.stream)) ?? 0) + 1);
  return counts;
}

async function expectSoundLog(): Promise<void> {
  const audit = await service.ops('audit', 'verify');
  expect([audit.exitCode, audit.stdout]).toEqual([0, expect.stringContaining('"brokenLinks":0')]);
}

/** Reads the report of a session when the service knows the results of earlier reads. */
async function read(caller: PlatformCaller, id: string): Promise<string> {
  let text = '';
  await until(`the report of ${id} can be read`, async () => {
    const reply = await caller.get(`/reports/${id}`);
    text = reply.text;
    return reply.status === 200;
  });
  return text;
}

describe('kill -9', () => {
  it(`between a charge and its record (rounds: ${ROUNDS}): every consumer is charged once, and the log finally has every charge`, async () => {
    const billedBefore = (await calls()).operations.report.billed;
    const creditBefore = await creditOf('demo');
    for (let round = 1; round <= ROUNDS; round++) {
      const four = <Item>(make: () => Promise<Item>): Promise<Item[]> => Promise.all(Array.from({ length: 4 }, make));
      const [waiting, dying, dead] = [
        await four(() => verified(demo)),
        await four(() => verified(demo).then(open)),
        await four(() => verified(demo).then(open)),
      ];
      const stop = new AbortController();
      const load = Array.from({ length: CALLERS }, () => consumers(stop.signal));
      const before = charged.size;
      await until('there is load', () => charged.size >= before + 12);

      // The processor makes new intents, but the service dies before it learns of them.
      await processor.control('slow', { ms: 600 });
      const creates = async (): Promise<number> =>
        (await processor.allCalls()).operations['intent-create']?.received ?? 0;
      const createsBefore = await creates();
      const creating = waiting.map((id) => open(id).catch(() => null));
      await until('the processor is at work on them', async () => (await creates()) >= createsBefore + waiting.length);
      // The service learns of these charges at the moment of its death.
      const paying = dying.map((payment) => pay(payment));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 700));
      await service.kill9();
      stop.abort();
      await Promise.all([...load, ...creating, ...paying]);
      await processor.control('slow', { ms: 0 });
      // The service cannot learn of these charges, because it is not running.
      for (const payment of dead) await pay(payment);
      await service.startAgain();

      // No page requests the state of the payments. The processor sends events, and event handlers finish the work.
      for (const id of charged)
        await until(`${id} is paid`, async () => (await demo.status(id)).body.overallStatus === 'COMPLETED');
      // Every caller without an answer repeats the request.
      for (const id of waiting) await pay(opened.get(id) ?? (await open(id)));
    }
    for (const payment of opened.values()) if (!charged.has(payment.id)) await pay(await open(payment.id));
    for (const { id, transactionId } of opened.values()) {
      await until(
        `${id} is known to be paid`,
        async () => (await demo.post(`/payments/${transactionId}/confirm`)).body.status === 'SUCCEEDED',
      );
      expect([id, await read(demo, id)]).toEqual([id, await read(demo, id)]);
    }
    await Promise.all([...opened.values()].map(({ secret }) => processor.settled(intentIn(secret))));

    await noCreditIsSetAside('demo');

    const intents = await processor.intents();
    const money = await processor.money();
    for (const { id, transactionId } of opened.values()) {
      expect([id, intents.filter(({ metadata }) => metadata['session_id'] === id).length]).toEqual([id, 1]);
      const ofIt = money.charges.filter(
        ({ transaction, status }) => transaction === transactionId && status === 'succeeded',
      );
      expect([transactionId, ofIt.map(({ amount }) => amount)]).toEqual([transactionId, [FEE]]);
    }
    expect([money.succeeded, money.received]).toEqual([opened.size, opened.size * FEE]);

    const all = await log();
    const [successes, completions, releases, payments] = [
      countOf(all, 'payment', 'PaymentSucceeded'),
      countOf(all, 'screening', 'ScreeningCompleted'),
      countOf(all, 'report', 'ReportReleased'),
      countOf(all, 'payment', 'PaymentOpened'),
    ];
    const once = (counts: ReadonlyMap<string, number>, ids: readonly string[]): [string, number][] =>
      ids.map((id) => [id, counts.get(id) ?? 0]);
    const sessions = [...opened.keys()];
    const transactions = [...opened.values()].map(({ transactionId }) => transactionId.slice(4));
    expect(once(successes, transactions)).toEqual(transactions.map((id) => [id, 1]));
    expect(once(payments, transactions)).toEqual(transactions.map((id) => [id, 1]));
    expect(once(completions, sessions)).toEqual(sessions.map((id) => [id, 1]));
    expect(once(releases, sessions)).toEqual(sessions.map((id) => [id, 1]));
    expect((await calls()).operations.report.billed - billedBefore).toBe(sessions.length);
    expect(await creditOf('demo')).toMatchObject({ balance: creditBefore.balance - sessions.length, reserved: 0 });
    expect([(await calls()).executedTwice, (await processor.allCalls()).executedTwice]).toEqual([[], []]);
    await expectSoundLog();
  }, 420_000);

  it(`between the pull of a report and its record (rounds: ${ROUNDS}): each session has one report, one bill and one debit`, async () => {
    const billedBefore = (await calls()).operations.report.billed;
    const creditBefore = await creditOf('nopay');
    const sessions: string[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const slow = await Promise.all([1, 2, 3, 4].map(() => verified(nopay, 'Slowtest')));
      sessions.push(...slow);
      const receivedBefore = (await calls()).operations.report.received;
      // Each session has two readers. The bureau takes two seconds.
      const readers = [...slow, ...slow].map((id) => nopay.get(`/reports/${id}`).catch(() => null));
      await until(
        'the bureau is at work on them',
        async () => (await calls()).operations.report.received >= receivedBefore + slow.length,
      );
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2_300));
      await service.kill9();
      await Promise.all(readers);
      await service.startAgain();
      for (const id of slow) await read(nopay, id);
    }
    // All uncertain requests are settled at this point, and a second read returns the same report.
    await noCreditIsSetAside('nopay');
    for (const id of sessions) expect([id, await read(nopay, id)]).toEqual([id, await read(nopay, id)]);

    expect((await calls()).operations.report.billed - billedBefore).toBe(sessions.length);
    expect(await creditOf('nopay')).toMatchObject({ balance: creditBefore.balance - sessions.length, reserved: 0 });
    const all = await log();
    const { accountId } = (await service.credentials()).accounts.nopay;
    const debits = all.filter(({ stream, type }) => stream === `credit-${accountId}` && type === 'CreditDebited');
    expect(debits).toHaveLength(sessions.length);
    const releases = countOf(all, 'report', 'ReportReleased');
    expect(sessions.map((id) => [id, releases.get(id)])).toEqual(sessions.map((id) => [id, 1]));
    const completions = countOf(all, 'screening', 'ScreeningCompleted');
    expect(sessions.map((id) => [id, completions.get(id)])).toEqual(sessions.map((id) => [id, 1]));
    expect((await calls()).executedTwice).toEqual([]);
    await expectSoundLog();
  });
});
