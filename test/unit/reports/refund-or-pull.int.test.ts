// When two processes refund a payment and pull its report at once, one succeeds first, and the other is refused.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { EndPulls } from '../../../src/modules/reports/application/end-pulls.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { GIVEN, Harness, Process } from './harness.js';

let harness: Harness;

beforeAll(async () => {
  harness = await Harness.build();
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.bureau.asked.length = 0;
  harness.bureau.answers = [GIVEN];
});

const outcomeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'done',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );

/** A process that runs `meanwhile` before its next append of this type. */
function interrupted(type: string, meanwhile: () => Promise<unknown>): Process {
  let happened = false;
  const store = new Proxy(harness.store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'append') return value.bind(target);
      return async (...given: Parameters<EventStore['append']>) => {
        if (!happened && given[2].some((event) => event.type === type)) {
          happened = true;
          await meanwhile();
        }
        return target.append(...given);
      };
    },
  });
  return new Process(Object.assign(Object.create(harness) as Harness, { store }));
}

async function paidSession(): Promise<{ readonly accountId: string; readonly sessionId: string }> {
  const accountId = await harness.account();
  return { accountId, sessionId: harness.session(accountId, { paymentStatus: 'SUCCEEDED', paidBy: 'txn' }) };
}

const refund = (process: Process, sessionId: string, accountId: string): Promise<unknown> =>
  new EndPulls(process.aggregates).end(
    sessionId,
    { transactionId: 'txn', reasonCode: 'other', evenIfReleased: false },
    harness.as(accountId),
  );

it("the refund succeeds when it is stored between the pull's read and its append", async () => {
  const { accountId, sessionId } = await paidSession();
  const here = interrupted('ReportRequested', () => refund(new Process(harness), sessionId, accountId));
  expect(await outcomeOf(here.open(sessionId, harness.as(accountId)))).toBe('report.consumer_has_not_paid');
  expect(await harness.types('report', sessionId)).toEqual(['ReportPullsEnded']);
  expect(harness.bureau.asked).toEqual([]);
});

it("the pull succeeds when it is stored between the refund's read and its append", async () => {
  const { accountId, sessionId } = await paidSession();
  let answered = (): void => undefined;
  harness.bureau.answers = [new Promise((resolve) => (answered = () => resolve(GIVEN)))];
  let reading: Promise<string> = Promise.resolve('');
  const here = interrupted('ReportPullsEnded', async () => {
    reading = outcomeOf(new Process(harness).open(sessionId, harness.as(accountId)));
    while (harness.bureau.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
  });
  expect(await outcomeOf(refund(here, sessionId, accountId))).toBe('payment.report_under_way');
  answered();
  expect(await reading).toBe('done');
  expect(await harness.types('report', sessionId)).toEqual(['ReportRequested', 'ReportReleased']);
});

it('one of the two succeeds and the other is refused, in either order', async () => {
  for (let round = 0; round < 40; round++) {
    const { accountId, sessionId } = await paidSession();
    harness.bureau.asked.length = 0;
    const later = async (turns: number): Promise<void> => {
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    const [pull, back] = await Promise.all([
      later(round % 7).then(() => outcomeOf(new Process(harness).open(sessionId, harness.as(accountId)))),
      later(round % 5).then(() => outcomeOf(refund(new Process(harness), sessionId, accountId))),
    ]);
    const types = await harness.types('report', sessionId);
    if (back === 'done') {
      expect([pull, types, harness.bureau.asked]).toEqual(['report.consumer_has_not_paid', ['ReportPullsEnded'], []]);
    } else {
      expect(['payment.report_under_way', 'payment.report_released']).toContain(back);
      expect([pull, types]).toEqual(['done', ['ReportRequested', 'ReportReleased']]);
    }
  }
});
