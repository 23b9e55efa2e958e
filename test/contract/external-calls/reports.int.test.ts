// Pulls of reports through their queues. A worker in another process records them, and the pulls of one account do not
// block those of another.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ReportVerdict } from '../../../src/ports/credit-bureau.js';
import { until } from '../../support/eventually.js';
import { GIVEN, Harness, Process, REPORT } from '../../unit/reports/harness.js';
import { CallProcesses, SLOTS } from './call-processes.js';

const never: Promise<ReportVerdict> = new Promise(() => undefined);

describe('pulls of reports', () => {
  let harness: Harness;
  let calls: CallProcesses;

  beforeEach(async () => {
    [harness, calls] = [await Harness.build(), await CallProcesses.start()];
    // The harness's clock stands still at a time ahead of the clock of the queues. Therefore each call has enough time.
    harness.clock.time = Date.now() + 60_000;
  });
  afterEach(async () => {
    await calls.end();
    await harness.close();
  });

  /** Processes that serve requests, and one process that makes the calls. */
  async function processes(share = 0): Promise<readonly [Process, Process]> {
    await calls.worker([new Process(harness).pull], { drainMs: 1 });
    return [
      new Process(harness, undefined, await calls.caller({ timeoutMs: 60_000, share })),
      new Process(harness, undefined, await calls.caller({ timeoutMs: 60_000, share })),
    ];
  }
  const outcome = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'opened',
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );

  it('are recorded before their caller continues, and leave nothing in Redis', async () => {
    const [here] = await processes();
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    expect(await here.open(sessionId, harness.as(accountId))).toMatchObject({ report: REPORT });
    expect(await harness.types('report', sessionId)).toEqual(['ReportRequested', 'ReportReleased']);
    expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 0 });
    const released = (await harness.store.readStream(`report-${sessionId}`)).at(-1);
    expect(released?.metadata).toMatchObject({ accountId, actor: { kind: 'platform-token', id: 'key-1' } });
    expect(await (await calls.connection()).keys('sealed:*')).toEqual([]);
  });

  it.each([
    ['unavailable', 'service.unavailable'],
    ['timed-out', 'service.upstream_timeout'],
    ['unintelligible', 'service.unavailable'],
  ] as const)("whose call ends as %s are answered from the worker's record", async (kind, code) => {
    const [here] = await processes();
    const accountId = await harness.account(1);
    harness.bureau.answers = [{ kind }];
    expect(await outcome(here.open(harness.session(accountId), harness.as(accountId)))).toBe(code);
  });

  it('are unavailable, and their credit is returned, when no worker can make them', async () => {
    const [here] = await processes();
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    await calls.server.kill9();
    expect(await outcome(here.open(sessionId, harness.as(accountId)))).toBe('service.unavailable');
    expect(harness.bureau.asked).toEqual([]);
    expect(await harness.types('report', sessionId)).toEqual(['ReportRequested', 'ReportPullFailed']);
    expect(await harness.credit(accountId)).toEqual({ balance: 1, reserved: 0 });
    await calls.server.startAgain();
  });

  it('leave room for other accounts, even if many pulls of one account hang', async () => {
    const [here, there] = await processes(2);
    const [greedy, modest] = [await harness.account(), await harness.account()];
    harness.bureau.answers = [never, never, GIVEN];
    const sessions = Array.from({ length: 66 }, () => harness.session(greedy));
    const refused: string[] = [];
    for (const [at, sessionId] of sessions.entries())
      void outcome((at % 2 ? here : there).open(sessionId, harness.as(greedy))).then((code) => {
        if (code === 'request.rate_limited') refused.push(sessionId);
      });
    await until('the excess is refused', () => refused.length === 64);
    await until('the others hang', () => harness.bureau.asked.length === 2);
    expect((await Promise.all(refused.map((id) => harness.types('report', id)))).flat()).toEqual([]);
    expect(await outcome(here.open(harness.session(modest), harness.as(modest)))).toBe('opened');
  });

  it('count once for the limit of their account, even if many readers read one report at once', async () => {
    const [here, there] = await processes(1);
    const accountId = await harness.account();
    const sessionId = harness.session(accountId);
    const readers = Array.from({ length: 20 }, (_, at) =>
      outcome((at % 2 ? here : there).open(sessionId, harness.as(accountId))),
    );
    expect(new Set(await Promise.all(readers))).toEqual(new Set(['opened']));
    expect(harness.bureau.asked).toHaveLength(1);
    expect(await outcome(here.open(harness.session(accountId), harness.as(accountId)))).toBe('opened');
  });

  it('share no slot between test and live', async () => {
    const [here] = await processes();
    const accountId = await harness.account(null, { provisionedForLive: true });
    harness.bureau.answers = [...Array.from({ length: SLOTS }, () => never), GIVEN];
    for (let count = 0; count < SLOTS + 4; count++)
      void outcome(here.open(harness.session(accountId), harness.as(accountId)));
    await until('every slot of test is taken', () => harness.bureau.asked.length === SLOTS);
    const live = harness.session(accountId, { environment: 'live' });
    expect(await outcome(here.open(live, harness.as(accountId, 'live')))).toBe('opened');
  });
});
