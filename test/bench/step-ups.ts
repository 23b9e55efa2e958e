// Stores published events of sessions that wait for a person's answer. This process opens the service's log together
// with the service.
import { join } from 'node:path';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { SystemClock } from '../../src/kernel/clock.js';
import type { ActionContext } from '../../src/kernel/context.js';
import { newId } from '../../src/kernel/ids.js';
import { FIRST_CHOICE } from '../../src/kernel/vendor-choice.js';
import { screeningSession } from '../../src/modules/screening/domain/screening-session.js';
import type { SessionState } from '../../src/modules/screening/domain/session.js';
import { AggregateStore, type LoadedAggregate } from '../../src/platform/aggregates/aggregate-store.js';
import type { ReadModels } from '../../src/ports/read-models.js';

/** A session whose vendor has not answered. */
export interface Submitted {
  readonly sessionId: string;
  readonly attemptId: string;
  readonly context: ActionContext;
  readonly state: LoadedAggregate<SessionState>;
}

const POLICY = { attemptsAllowed: 3, stepUpTtlSeconds: 3_600, lockSeconds: 3_600, reviewSeconds: 3_600 };

export class StepUps {
  private readonly aggregates: AggregateStore;

  private constructor(private readonly store: EmbeddedEventStore) {
    this.aggregates = new AggregateStore(
      store,
      { applyNow: () => Promise.resolve() } as unknown as ReadModels,
      new SystemClock(),
      { appendConflict: () => undefined },
    );
  }

  static open(dataDir: string): StepUps {
    return new StepUps(EmbeddedEventStore.open({ directory: join(dataDir, 'events') }));
  }

  /** Stores a session without a published event. */
  async submit(accountId: string): Promise<Submitted> {
    const [sessionId, attemptId, now] = [newId(), newId(), new Date()];
    const context: ActionContext = {
      accountId,
      environment: 'test',
      actor: { kind: 'system', id: 'bench' },
      correlationId: sessionId,
      causationId: sessionId,
    };
    const later = new Date(now.getTime() + 3_600_000);
    const state = await this.aggregates.execute(
      screeningSession,
      sessionId,
      {
        kind: 'submit',
        now,
        attemptId,
        settleAfter: later,
        giveUpAfter: later,
        subjectId: newId(),
        personId: newId(),
        userType: 'CONSUMER',
        termsAcceptedAt: now.toISOString(),
        paymentRequired: true,
        vendors: FIRST_CHOICE,
      },
      context,
    );
    return { sessionId, attemptId, context, state };
  }

  /** Stores one published event, and resolves when it is durable. */
  async require({ sessionId, attemptId, context, state }: Submitted): Promise<void> {
    const verdict = { kind: 'step-up', otp: true, questions: [], duplicateGuard: false } as const;
    await this.aggregates.execute(
      screeningSession,
      { id: sessionId, known: state },
      { kind: 'record-registration', now: new Date(), attemptId, verdict, policy: POLICY },
      context,
    );
  }

  async close(): Promise<void> {
    await this.store.close();
  }
}
