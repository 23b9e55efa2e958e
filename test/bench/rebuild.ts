// (d) Rebuilding all projections from the log.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { documentFields, keysOf } from '../../src/adapters/read-models/redis-keys.js';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { delivery } from '../../src/modules/webhooks/domain/delivery.js';
import { deliveryLog } from '../../src/modules/webhooks/read/deliveries.js';
import { PROJECTIONS } from '../support/declarations.js';
import { newId } from '../../src/kernel/ids.js';
import type { RecordedEvent } from '../../src/kernel/domain-event.js';
import { foldState } from '../../src/kernel/projection.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { NewEvent } from '../../src/ports/event-store.js';
import type { DocumentWrite } from '../../src/ports/projection-store.js';
import { Projector } from '../../src/platform/subscriptions/projector.js';
import { KEPT_MS, RedisServer } from '../support/redis.js';
import { anEvent } from './event-store.js';
import { medians, tell } from './measure.js';

const EVENTS = 200_000;
const PER_SESSION = 8;
/** For how long documents are kept by default. The events are older, as nearly all of a log are. */
const AS_BY_DEFAULT_MS = 72 * 3_600_000;
/** As many events as a catch-up commits at once, each of a stream of its own. */
const COMMITTED = 5_000;

export async function benchRebuild(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-rebuild-'));
  const store = EmbeddedEventStore.open({ directory });
  try {
    await fill(store);
    const { rebuild } = await medians(3, { rebuild: () => rebuilt(store) });
    tell(`(d) rebuild of all projections from ${EVENTS.toLocaleString('en-US')} events`, rebuild, 'events/s', {
      atLeast: 50_000,
    });
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
  await benchCommit();
}

/** What listing costs: how long the largest commit holds up the readers of its projection, and the size of its index entries. */
async function benchCommit(): Promise<void> {
  const server = await RedisServer.start();
  try {
    const redis = server.client();
    const store = new RedisProjectionStore(redis, KEPT_MS);
    await store.lease(deliveryLog, 'bench', 600_000);
    await store.beginGeneration(deliveryLog, 'bench', 1, false);
    const [, docs, entries] = keysOf(deliveryLog).building;
    let position: string | null = null;
    const commit = async (): Promise<number> => {
      const writes = Array.from({ length: COMMITTED }, aDelivery);
      const next = newId();
      const startedAt = performance.now();
      await store.commit(deliveryLog, 'bench', 1, { expected: position, next, log: null, writes });
      position = next;
      return performance.now() - startedAt;
    };
    const reads = async (): Promise<number> => {
      const [known = ''] = (await redis.hrandfield(docs, 1)) as string[];
      const startedAt = performance.now();
      for (let read = 0; read < COMMITTED; read++) await redis.hget(docs, known);
      return performance.now() - startedAt;
    };
    const { commits, readings } = await medians(9, { commits: commit, readings: reads });
    const size = COMMITTED.toLocaleString('en-US');
    tell(`(d) a commit of ${size} deliveries, against ${size} reads one by one`, commits / readings, 'times as long');
    const [text = ''] = documentFields(deliveryLog, aDelivery()).slice(2);
    const [line = ''] = text.split('\n');
    const count = line.split('\t').length - 1;
    const bytes = Number(await redis.memory('USAGE', entries, 'SAMPLES', 0)) / (await redis.zcard(entries));
    tell(`(d) an index entry of a delivery, of ${count}, in the sorted set`, bytes, 'bytes');
    tell('(d) an index entry of a delivery, in its document', line.length / count, 'bytes');
  } finally {
    await server.stop();
  }
}

function aDelivery(): DocumentWrite {
  const id = newId();
  const event = {
    ...anEvent('DeliveryScheduled'),
    data: { ...SCHEDULED, endpointId: newId() },
    stream: `${delivery.category}-${id}`,
    revision: 0,
  };
  return {
    id,
    revision: 0,
    state: foldState(deliveryLog, [event as unknown as RecordedEvent]),
    occurredAt: SCHEDULED.occurredAt,
  };
}

const SCHEDULED = {
  eventId: `evt_${newId()}`,
  eventType: 'report.shared',
  occurredAt: '2026-01-31T12:00:00.000Z',
  body: '',
  kind: 'event',
  nextAttemptAt: '2026-01-31T12:00:00.000Z',
};

/** Sessions as they are: submitted, step-up, two wrong codes, resends, verified. */
async function fill(store: EmbeddedEventStore): Promise<void> {
  let sessions = EVENTS / PER_SESSION;
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (sessions-- > 0) await store.append(`screening-${newId()}`, 'no-stream', aSession());
    }),
  );
}

function aSession(): NewEvent[] {
  const attempt = (): JsonObject => ({
    attemptId: newId(),
    settleAfter: '2026-01-31T12:00:00.000Z',
    giveUpAfter: '2026-01-31T12:01:00.000Z',
  });
  const facts: readonly (readonly [string, JsonObject])[] = [
    [
      'ScreeningSubmitted',
      {
        subjectId: newId(),
        personId: newId(),
        userType: 'CONSUMER',
        termsAcceptedAt: '2026-01-31T12:00:00.000Z',
        paymentRequired: true,
      },
    ],
    ['VerificationRequested', attempt()],
    [
      'StepUpRequired',
      {
        attemptId: newId(),
        methods: ['OTP'],
        questions: [],
        attemptsAllowed: 3,
        expiresAt: '2026-01-31T12:30:00.000Z',
        smsSentAt: '2026-01-31T12:00:00.000Z',
        duplicateGuard: false,
      },
    ],
    ['OtpAnswerReceived', attempt()],
    ['OtpRejected', { attemptId: newId(), attemptsRemaining: 2, expiresAt: '2026-01-31T12:30:00.000Z' }],
    ['OtpResendRequested', attempt()],
    ['OtpResent', { attemptId: newId(), smsSentAt: '2026-01-31T12:01:00.000Z' }],
    ['OtpAnswerReceived', attempt()],
  ];
  return facts.map(([type, data]) => ({ ...anEvent(type), data }));
}

/** From an empty Redis to every projection served live. */
async function rebuilt(store: EmbeddedEventStore): Promise<number> {
  const server = await RedisServer.start();
  const redis = server.client();
  const startedAt = performance.now();
  const served = new Set<string>();
  let done: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (done = resolve));
  const projector = new Projector(store, new RedisProjectionStore(redis, AS_BY_DEFAULT_MS), PROJECTIONS, {
    dropped: () => undefined,
    lag: () => undefined,
    stopped: (projection, error) => {
      throw new Error(`${projection} stopped`, { cause: error });
    },
    buildStarted: () => undefined,
    leasesFailed: () => undefined,
    rebuilt: ({ projection }) => {
      served.add(projection);
      if (served.size === PROJECTIONS.length) done();
    },
  });
  projector.start();
  await all;
  const seconds = (performance.now() - startedAt) / 1_000;
  await projector.stop();
  await server.stop();
  return EVENTS / seconds;
}
