// (d) Rebuilding all projections from the log.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { PROJECTIONS } from '../support/declarations.js';
import { newId } from '../../src/kernel/ids.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { NewEvent } from '../../src/ports/event-store.js';
import { Projector } from '../../src/platform/subscriptions/projector.js';
import { RedisServer } from '../support/redis.js';
import { anEvent } from './event-store.js';
import { medians, tell } from './measure.js';

const EVENTS = 200_000;
const PER_SESSION = 8;

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
}

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
  const projector = new Projector(store, new RedisProjectionStore(redis), PROJECTIONS, {
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
