// Random orders of events for the sessions, payments and reports of one person. Every charge has a report, a planned
// report or a refund. A session is never charged twice, and a charge never has two reports. A failing history is
// printed with its seed.
import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fold } from '../../../src/kernel/decider.js';
import { newId } from '../../../src/kernel/ids.js';
import { isRefunded, payment, transactionIdOf } from '../../../src/modules/payments/domain/payment.js';
import { report, type ReportState } from '../../../src/modules/reports/domain/report.js';
import type { IntentStatus } from '../../../src/ports/payment-processor.js';
import { screeningSession } from '../../../src/modules/screening/domain/screening-session.js';
import type { Session } from '../../../src/modules/screening/domain/session.js';
import type { RegistrationVerdict } from '../../../src/modules/screening/domain/verdicts.js';
import { PlayedInstallation, PlayedProcess, UNTROUBLED, type Trouble } from './played-installation.js';

/**
 * Set these variables to try other histories, or set the seed and path of a failure to repeat it. The second tier has
 * time for more histories.
 */
const {
  HISTORIES = process.env['TIER'] === 'first' ? '60' : '600',
  HISTORIES_SEED = '29',
  HISTORIES_PATH: PATH,
} = process.env;
const [RUNS, SEED] = [Number(HISTORIES), Number(HISTORIES_SEED)];

/** Money that was received for a session, in one form for every kind of payment. */
interface Charge {
  readonly transactionId: string;
  /** The session for which the money counts now. */
  readonly sessionId: string;
  /** The sessions for which the money counted earlier. */
  readonly former: readonly string[];
  /** `asked`: the refund will be made. `planned`: the refund is made unless the report comes first. */
  readonly refund: 'none' | 'planned' | 'asked' | 'made';
  /** The session keeps its report after the refund. */
  readonly keepsReport: boolean;
}

type Log = PlayedInstallation['log'];

/** The charges in the log, by the category of their streams. */
const CHARGES: Readonly<Record<string, (id: string, log: Log) => Promise<readonly Charge[]>>> = {
  payment: async (id, log) => {
    const state = fold(payment, (await log.readStream(`payment-${id}`)) as never);
    if (state.status !== 'SUCCEEDED') return [];
    const { sessionId, former, refund, refundAt, refundedCents, price } = state;
    const isGivenBack = isRefunded(state) || refundedCents >= price.amountCents;
    const asked = refund === null ? (refundAt === null ? 'none' : 'planned') : 'asked';
    return [
      {
        transactionId: transactionIdOf(id),
        sessionId,
        former,
        refund: isGivenBack ? 'made' : asked,
        keepsReport: refund?.keepsReport ?? true,
      },
    ];
  },
};

async function chargesIn(log: Log): Promise<readonly Charge[]> {
  const charges: Charge[] = [];
  for (const [category, read] of Object.entries(CHARGES))
    for (const id of log.ids(category)) charges.push(...(await read(id, log)));
  return charges;
}

async function reportOf(sessionId: string, log: Log): Promise<ReportState> {
  return fold(report, (await log.readStream(`report-${sessionId}`)) as never);
}

async function sessionOf(sessionId: string, log: Log): Promise<Session | null> {
  const state = fold(screeningSession, (await log.readStream(`screening-${sessionId}`)) as never);
  return state.status === 'NONE' ? null : state;
}

const isKept = ({ refund }: Pick<Charge, 'refund'>): boolean => refund === 'none' || refund === 'planned';
const paidBy = (session: Session | null): string | null =>
  session?.payment?.status === 'SUCCEEDED' ? session.payment.transactionId : null;

const HOUR = 3_600;
const DAY = 24 * HOUR;

interface Doing {
  readonly harness: PlayedInstallation;
  readonly process: PlayedProcess;
  /**
   * One of the existing sessions, or an intent with a known secret. Newer sessions and intents are chosen more often.
   */
  readonly sessionId: string;
  readonly transactionId: string;
  readonly intentId: string;
  /** Selects one of the variants of an action. */
  readonly way: number;
}

function chosen<Item>(choices: readonly [Item, ...Item[]], way: number): Item {
  return choices[way % choices.length] ?? choices[0];
}
const CONFIRMED: RegistrationVerdict = { kind: 'confirmed', duplicateGuard: false };
const judged = ({ harness, process, way }: Doing, sessionId: string): Promise<void> => {
  const verdict = chosen<RegistrationVerdict>(
    [
      CONFIRMED,
      CONFIRMED,
      CONFIRMED,
      CONFIRMED,
      { kind: 'session-over' },
      { kind: 'locked', unblockAt: null },
      { kind: 'unintelligible' },
    ],
    way,
  );
  return harness.judge(process, sessionId, verdict, way % 4 > 0);
};
/** Pays in the consumer's browser, with the secret of the intent. */
function pay({ harness, intentId, way }: Doing): void {
  const { processor } = harness;
  const intent = processor.intents.get(intentId);
  if (intent === undefined || intent.status === 'succeeded' || intent.status === 'canceled') return;
  const status = chosen<IntentStatus>(
    ['succeeded', 'succeeded', 'succeeded', 'succeeded', 'processing', 'canceled', 'requires_payment_method'],
    way,
  );
  const lastErrorCode = status === 'requires_payment_method' ? 'card_declined' : null;
  processor.change(intentId, { status, lastErrorCode, receivedCents: status === 'succeeded' ? intent.amountCents : 0 });
}
const HANDLERS = new PlayedProcess(new PlayedInstallation(null), UNTROUBLED).handlers.map(({ name }) => name);

/** The possible actions with their weights. */
const ACTS = {
  register: [
    5,
    async (doing) => {
      const sessionId = newId();
      await doing.harness.submit(doing.process, sessionId);
      await judged(doing, sessionId);
    },
  ],
  submit: [1, ({ harness, process }) => harness.submit(process, newId())],
  judge: [1, (doing) => judged(doing, doing.sessionId)],
  'create intent': [
    4,
    ({ harness, process, sessionId, way }) => harness.createIntent(process, sessionId, 3_500 + (way % 2)),
  ],
  pay: [3, pay],
  // A person without a possible report submits again, opens the payment early in a second page, and pays in both pages.
  'pay in two pages': [
    2,
    async (doing) => {
      const { harness, process } = doing;
      const [older, newer] = [newId(), newId()];
      const buy = async (transactionId: string): Promise<void> => {
        pay({ ...doing, intentId: harness.handedOut.get(transactionId) ?? '', way: 0 });
        await harness.confirm(process, transactionId);
      };
      await harness.submit(process, older);
      await harness.judge(process, older, CONFIRMED, true);
      await buy(await harness.createIntent(process, older, 3_500));
      harness.loseReference(older, 'gone');
      await harness.submit(process, newer);
      const again = await harness.createIntent(process, newer, 3_500);
      await harness.judge(process, newer, CONFIRMED, true);
      await buy(again);
    },
  ],
  confirm: [3, ({ harness, process, transactionId }) => harness.confirm(process, transactionId)],
  buy: [
    6,
    async (doing) => {
      const { harness, process, sessionId } = doing;
      const transactionId = await harness.createIntent(process, sessionId, 3_500);
      pay({ ...doing, intentId: harness.handedOut.get(transactionId) ?? '' });
      await harness.confirm(process, transactionId);
    },
  ],
  read: [5, ({ harness, process, sessionId }) => harness.read(process, sessionId)],
  refund: [1, ({ harness, process, transactionId }) => harness.refund(process, transactionId)],
  'refund as operator': [1, ({ harness, process, transactionId }) => harness.refundAsOperator(process, transactionId)],
  'refund at the processor': [
    1,
    ({ harness: { processor }, intentId, way }) => {
      const { receivedCents = 0, refundedCents = 0 } = processor.intents.get(intentId) ?? {};
      processor.change(intentId, {
        refundedCents: Math.max(refundedCents, chosen([receivedCents, receivedCents / 2], way)),
      });
    },
  ],
  freeze: [1, ({ harness, way }) => void (harness.bureau.isFrozen = way % 2 === 0)],
  'lose reference': [
    2,
    ({ harness, sessionId, way }) => harness.loseReference(sessionId, chosen(['gone', 'unopenable'], way)),
  ],
  erase: [1, ({ harness, process, way }) => (way % 5 === 0 ? harness.erase(process) : undefined)],
  follow: [3, ({ harness, process, way }) => harness.follow(process, HANDLERS[way % HANDLERS.length] ?? '', way % 7)],
  recover: [1, ({ harness, process }) => harness.recover(process)],
  wait: [2, ({ harness, way }) => harness.clock.pass(chosen([10, 700, DAY, 15 * DAY], way))],
} as const satisfies Readonly<Record<string, readonly [number, (doing: Doing) => unknown]>>;

const acts = fc.record({
  what: fc.oneof(
    ...(Object.keys(ACTS) as (keyof typeof ACTS)[]).map((what) => ({
      weight: ACTS[what][0],
      arbitrary: fc.constant(what),
    })),
  ),
  place: fc.oneof(fc.constant(0), fc.nat(4)),
  way: fc.nat(27),
});
type Act = typeof acts extends fc.Arbitrary<infer One> ? One : never;

async function perform({ what, place, way }: Act, harness: PlayedInstallation, process: PlayedProcess): Promise<void> {
  const nth = <Item>(items: readonly Item[]): Item | undefined => items.at(-1 - (place % Math.max(1, items.length)));
  const sessionId = nth(harness.sessions) ?? '';
  const [transactionId, intentId] = nth([...harness.handedOut]) ?? ['', ''];
  await ACTS[what][1]({ harness, process, sessionId, transactionId, intentId, way });
}

/** The value is null in most cases. */
const seldom = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value });
const troubles = fc.record<Trouble>({
  kind: fc.constantFrom('unavailable', 'timed-out', 'unintelligible', 'not-made', 'refused', 'session-over'),
  isDone: fc.boolean(),
});
const steps = fc.record({
  act: acts,
  dies: seldom(fc.record({ at: fc.nat(7), isDone: fc.boolean() })),
  meanwhile: seldom(fc.record({ at: fc.nat(5), act: acts })),
  troubles: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.option(troubles), { minLength: 1, maxLength: 3 }) },
  ),
});
const histories = fc.record({
  refundAfterDays: fc.constantFrom(14, 14, null),
  steps: fc.array(steps, { minLength: 8, maxLength: 30, size: 'max' }),
  /** Most histories begin with a verified person who tries to pay. */
  fates: fc.option(fc.tuple(steps, steps), { freq: 5 }),
});
type History = typeof histories extends fc.Arbitrary<infer One> ? One : never;

/** The recovery jobs repeat open calls within the first times. A planned refund is made within the later times. */
const SOON = [15, 60, 300, HOUR, 12 * HOUR];
const LATER = [DAY, 14 * DAY, 60, HOUR, DAY, DAY, 2 * DAY, 4 * DAY];

/**
 * The faults in the log after all interrupted work was recovered. `isLate`: every report was also requested long ago.
 */
async function wrongs({ log }: PlayedInstallation, isLate: boolean): Promise<string[]> {
  const charges = await chargesIn(log);
  const wrong: string[] = [];
  for (const charge of charges) {
    const { transactionId, sessionId, former, refund, keepsReport } = charge;
    const complain = (what: string): void => void wrong.push(`${transactionId}: ${what}`);
    for (const left of former)
      if (paidBy(await sessionOf(left, log)) === transactionId) complain('the session that it left is paid by it');
    const isPaidBy = paidBy(await sessionOf(sessionId, log)) === transactionId;
    if (refund === 'asked' && isLate) complain('it was not given back');
    if (refund === 'made' && !keepsReport && isPaidBy) complain('it was given back, and its session is paid by it');
    if (refund === 'asked' || refund === 'made') continue;
    if (!isPaidBy) complain('it counts for no session, and is not given back');
    if (charges.some((other) => other !== charge && other.sessionId === sessionId && isKept(other)))
      complain('its session was charged twice');
  }
  // Each report has a charge of its own, which counts for the session of the report and no other.
  for (const sessionId of log.ids('report'))
    if (
      (await reportOf(sessionId, log)).status === 'RELEASED' &&
      !charges.some((charge) => charge.sessionId === sessionId && (isKept(charge) || charge.keepsReport))
    )
      wrong.push(`${sessionId}: its report was released without a charge`);
  return wrong;
}

/** The kept charges without a report whose sessions have ended. */
async function inVain({ log }: PlayedInstallation): Promise<string[]> {
  const found: string[] = [];
  for (const { transactionId, sessionId, ...charge } of await chargesIn(log)) {
    const isServed = (await reportOf(sessionId, log)).status === 'RELEASED';
    const mayCome = (await sessionOf(sessionId, log))?.status === 'SUBMITTED';
    if (isKept(charge) && !isServed && !mayCome) found.push(transactionId);
  }
  return found;
}

async function play({ refundAfterDays, steps, fates }: History): Promise<PlayedInstallation> {
  const harness = new PlayedInstallation(refundAfterDays);
  const beginning = (fates ?? []).map((fate, index) => {
    const what = index === 0 ? ('register' as const) : ('buy' as const);
    return { ...fate, act: { what, place: 0, way: 1 } };
  });
  for (const { act, dies, meanwhile, troubles } of [...beginning, ...steps])
    await harness.run((process) => perform(act, harness, process), {
      dies,
      meanwhile: meanwhile && { at: meanwhile.at, act: (other) => perform(meanwhile.act, harness, other) },
      troubles,
    });
  return harness;
}

/**
 * A read returns the report, or it is refused and a refund is planned. A read therefore settles a charge that waits for
 * a report.
 */
async function askForReports(harness: PlayedInstallation): Promise<void> {
  for (const sessionId of harness.sessions) await harness.run((process) => harness.read(process, sessionId));
}

function fail(harness: PlayedInstallation, wrong: readonly string[]): void {
  if (wrong.length > 0) throw new Error(`${wrong.join('\n')}\n\n${harness.story()}\n`);
}

it('every charge has a report, a planned report or a refund, and a session is never charged twice', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const harness = await play(history);
      await harness.settle(...SOON);
      fail(harness, await wrongs(harness, false));
      await askForReports(harness);
      await harness.settle(...LATER);
      fail(harness, await wrongs(harness, true));
      let left = await inVain(harness);
      if (history.refundAfterDays !== null) fail(harness, left);
      // This account makes no automatic refunds, so the person is verified again without another payment.
      harness.bureau.isFrozen = false;
      while (left.length > 0) {
        await harness.run((process) => perform({ what: 'register', place: 0, way: 1 }, harness, process));
        await harness.settle(700);
        await askForReports(harness);
        await harness.settle(HOUR);
        fail(harness, await wrongs(harness, true));
        const still = await inVain(harness);
        if (still.length >= left.length) fail(harness, still);
        left = still;
      }
      for (const { refund, former } of await chargesIn(harness.log)) seen.add(refund).add(`carried ${former.length}`);
      for (const { type } of harness.log.all) seen.add(type);
    }),
    { seed: SEED, numRuns: RUNS, ...(PATH !== undefined && { path: PATH }) },
  );
  // The property would prove little if the histories never reached these ends.
  expect([...seen]).toEqual(
    expect.arrayContaining(['none', 'made', 'carried 1', 'ReportReleased', 'ReportPullFailed', 'PaymentRefundPlanned']),
  );
});
