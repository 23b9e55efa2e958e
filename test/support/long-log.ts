// Fills a log with many ended screenings and their hash chains, like a service. Tests rebuild and verify this log.
import type { EventStore, NewEvent } from '../../src/ports/event-store.js';
import { newId } from '../../src/kernel/ids.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { delivery } from '../../src/modules/webhooks/domain/delivery.js';
import { screeningSession } from '../../src/modules/screening/domain/screening-session.js';
import { genesisOf, linkTo } from '../../src/platform/audit/chain.js';

type Facts = readonly (readonly [type: string, data: JsonObject])[];

/** Screenings that run at the same time. The events of these screenings are interleaved. */
const TOGETHER = 256;
const AT = '2026-01-31T12:00:00.000Z';
const LATER = '2026-01-31T12:30:00.000Z';
const EVENTS_OF_A_SCREENING = 10;

/** Appends about this number of events. Every tenth begins a screening and every tenth begins a delivery. */
export async function appendScreenings(store: EventStore, events: number, at = new Date()): Promise<void> {
  for (let left = Math.ceil(events / EVENTS_OF_A_SCREENING); left > 0; left -= TOGETHER) {
    const streams = Array.from({ length: Math.min(left, TOGETHER) }, () => [
      chained(`${screeningSession.category}-${newId()}`, aScreening(), at),
      chained(`${delivery.category}-${newId()}`, aDelivery(), at),
    ]).flat();
    const longest = Math.max(...streams.map(({ events: { length } }) => length));
    for (let revision = 0; revision < longest; revision++) {
      const appends = streams.flatMap(({ stream, events: of }) => {
        const event = of[revision];
        const expected: number | 'no-stream' = revision === 0 ? 'no-stream' : revision - 1;
        return event ? [{ stream, expected, events: [event] }] : [];
      });
      const { outcome } = await store.appendTogether(appends);
      if (outcome !== 'appended') throw new Error('The log could not be filled');
    }
  }
}

function chained(
  stream: string,
  facts: Facts,
  at: Date,
): { readonly stream: string; readonly events: readonly NewEvent[] } {
  let prev = genesisOf(stream);
  const events = facts.map(([type, data], revision) => {
    const [id, metadata] = [newId(), aMetadata(at)];
    const chain = linkTo(prev, { id, type, stream, revision, data, metadata });
    prev = chain.hash;
    return { id, type, data, metadata: { ...metadata, chain: { ...chain } } };
  });
  return { stream, events };
}

function aMetadata(at: Date) {
  return {
    schemaVersion: 1,
    accountId: newId(),
    environment: 'test',
    occurredAt: at.toISOString(),
    $correlationId: newId(),
    $causationId: newId(),
    actor: { kind: 'platform-token', id: newId() },
  } as const;
}

/** Submitted, step-up required, a wrong code, the right code. */
function aScreening(): Facts {
  const requested = (): JsonObject => ({ attemptId: newId(), settleAfter: AT, giveUpAfter: LATER });
  return [
    [
      'ScreeningSubmitted',
      { subjectId: newId(), personId: newId(), userType: 'CONSUMER', termsAcceptedAt: AT, paymentRequired: false },
    ],
    ['VerificationRequested', requested()],
    [
      'StepUpRequired',
      {
        attemptId: newId(),
        methods: ['OTP'],
        questions: [],
        attemptsAllowed: 3,
        expiresAt: LATER,
        smsSentAt: AT,
        duplicateGuard: false,
      },
    ],
    ['OtpAnswerReceived', requested()],
    ['OtpRejected', { attemptId: newId(), attemptsRemaining: 2, expiresAt: LATER }],
    ['OtpAnswerReceived', requested()],
    ['IdentityVerified', { attemptId: newId(), verifiedAt: AT, duplicateGuard: false }],
  ];
}

function aDelivery(): Facts {
  const eventId = `evt_${newId()}`;
  const outcome = { errorCode: null, httpStatus: 200, latencyMs: 40, excerpt: null };
  return [
    [
      'DeliveryScheduled',
      {
        endpointId: newId(),
        eventId,
        eventType: 'screening.verified',
        occurredAt: AT,
        body: JSON.stringify({ id: eventId, type: 'screening.verified', data: { sessionId: newId() } }),
        kind: 'event',
        nextAttemptAt: AT,
      },
    ],
    ['DeliveryAttemptStarted', { attempt: 1, kind: 'ladder', settleAfter: LATER }],
    ['DeliverySucceeded', { attempt: 1, ...outcome }],
  ];
}
