// Counts a person's wrong answers in all sessions and parties against the limit (docs/contract/platform.md#wrong-answers-of-a-person). The person has
// a stream for each name. Each stream accepts an answer before the vendor receives it. The stream counts or clears the answer before the session or
// party records the verdict. The call stays open until the verdict, so the recovery job can repeat all steps.
import { Injectable } from '@nestjs/common';
import { latest, lockAt, type AnswerLimit } from '../../../challenges/domain/answer-limit.js';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext, Owner } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import {
  AnswerCounts,
  type Admission,
  type CountedAnswer,
  type PersonStanding,
} from '../../../published/answer-counts.js';
import {
  attemptsLeftTo,
  screenedPerson,
  sessionsIn,
  type PersonCommand,
  type PersonState,
} from '../domain/screened-person.js';
import { isOpen, screeningSession, type SessionCommand } from '../domain/screening-session.js';
import type { OpenStepUp, Session } from '../domain/session.js';
import { ScreeningPolicy } from './screening-policy.js';
import { SessionSecrets } from './session-secrets.js';

/** The number of open step-ups that a person may have. A further step-up ends the oldest. */
const MAX_OPEN_STEP_UPS = 2;

/** A vendor call of one of the person's sessions or parties. */
type Asked = Omit<CountedAnswer, 'limit'>;

/** Receives each wrong answer, so that operators can watch the number of wrong answers. */
export abstract class WrongAnswerObserver {
  abstract wrongAnswer(owner: Owner, locked: boolean): void;
}

/**
 * The streams of a session's person. The person's own stream is first. The streams of the further names follow. These further streams only count
 * wrong answers.
 */
export function streamsOf({ personId, countedAs = [] }: Pick<Session, 'personId' | 'countedAs'>): readonly string[] {
  return [personId, ...countedAs];
}

@Injectable()
export class PersonAnswers extends AnswerCounts {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly secrets: SessionSecrets,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
    private readonly observer: WrongAnswerObserver,
  ) {
    super();
  }

  override async lockedUntil(names: readonly string[], owner: Owner): Promise<string | null> {
    const now = await this.clock.of(owner);
    return latest((await this.load(names)).map((state) => lockAt(state, now)));
  }

  override async admit(names: readonly string[], answer: CountedAnswer, giveUpAfter: Date): Promise<Admission> {
    const { holderId: sessionId, attemptId, limit, context } = answer;
    const now = await this.clock.of(context);
    // The vendor's time limit goes by the machine's time, and the stream by the account's time.
    const aheadMs = Math.max(0, now.getTime() - this.clock.now().getTime());
    const over = new Date(giveUpAfter.getTime() + aheadMs);
    const command = { kind: 'admit-answer', now, sessionId, attemptId, giveUpAfter: over, limit } as const;
    const states = await this.each(names, command, context);
    if (states.every(({ admitted }) => admitted.some((one) => one.attemptId === attemptId)))
      return { kind: 'admitted' };
    // Some of the streams may have accepted the answer.
    const { lockedUntil } = await this.clear(names, answer);
    return lockedUntil === null ? { kind: 'others-first' } : { kind: 'locked', lockedUntil };
  }

  override async countWrong(
    names: readonly string[],
    answer: CountedAnswer,
    until: string | null,
  ): Promise<PersonStanding> {
    const { holderId: sessionId, attemptId, limit, context } = answer;
    const states: PersonState[] = [];
    let lockedUntil = until;
    let isNew = false;
    const now = await this.clock.of(context);
    // The stream that covers the most spellings is first, because its lock locks the other names too.
    for (const name of [...names].reverse()) {
      const command = { kind: 'count-wrong', now, sessionId, attemptId, lockedUntil, limit } as const;
      const { state, events } = await this.aggregates.execute(screenedPerson, name, command, context);
      states.unshift(state);
      lockedUntil = latest([lockedUntil, lockAt(state, now)]);
      isNew ||= events.length > 0;
    }
    const standing = this.standingOf(states, now, limit);
    if (isNew) this.observer.wrongAnswer(context, standing.lockedUntil !== null);
    return this.endingOthers(states, answer, standing);
  }

  override async clear(names: readonly string[], answer: CountedAnswer): Promise<PersonStanding> {
    const { holderId: sessionId, attemptId, limit, context } = answer;
    const states = await this.each(names, { kind: 'clear-answer', sessionId, attemptId }, context);
    return this.endingOthers(states, answer, this.standingOf(states, await this.clock.of(context), limit));
  }

  override async lock(names: readonly string[], call: Asked, lockedUntil: string): Promise<void> {
    const { holderId: sessionId, context } = call;
    const states = await this.each(names, { kind: 'record-lock', sessionId, lockedUntil }, context);
    await this.endingOthers(states, call, { lockedUntil, attemptsRemaining: 0 });
  }

  /** Blocks the session whose answer was not accepted because the person is locked. */
  async block({ holderId, attemptId, context }: Asked, lockedUntil: string): Promise<Session> {
    return this.end(holderId, { kind: 'block', attemptId, lockedUntil }, context);
  }

  standingOf(states: readonly PersonState[], now: Date, limit: AnswerLimit = this.policy.verdicts): PersonStanding {
    return {
      lockedUntil: latest(states.map((state) => lockAt(state, now))),
      attemptsRemaining: Math.min(...states.map((state) => attemptsLeftTo(state, now, limit))),
    };
  }

  /** Called after a step-up was opened. The newest two step-ups stay open, or none when the person is locked. Returns the session afterwards. */
  async limitOpen(session: OpenStepUp, { holderId, attemptId, context }: Asked): Promise<Session> {
    const states = await this.load(streamsOf(session));
    const { lockedUntil } = this.standingOf(states, await this.clock.of(context));
    const open = await this.openOf(states);
    const excess = lockedUntil === null ? open.slice(0, -MAX_OPEN_STEP_UPS) : open;
    const command: SessionCommand =
      lockedUntil === null ? { kind: 'supersede' } : { kind: 'block', attemptId, lockedUntil };
    const ended = await Promise.all(excess.map((sessionId) => this.end(sessionId, command, context)));
    return ended[excess.indexOf(holderId)] ?? session;
  }

  load(names: readonly string[]): Promise<readonly PersonState[]> {
    return Promise.all(names.map(async (name) => (await this.aggregates.load(screenedPerson, name)).state));
  }

  /** Sends the same command to the stream of each name. Returns their states afterwards. */
  private async each(
    names: readonly string[],
    command: PersonCommand,
    context: ActionContext,
  ): Promise<readonly PersonState[]> {
    const commands = names.map((id) => ({ decider: screenedPerson, id, command }));
    return (await this.aggregates.appendTogether(commands, context)).map(({ state }) => state);
  }

  /** Ends the other sessions of a person who is locked. */
  private async endingOthers(
    states: readonly PersonState[],
    { holderId, attemptId, context }: Asked,
    standing: PersonStanding,
  ): Promise<PersonStanding> {
    const { lockedUntil } = standing;
    if (lockedUntil === null) return standing;
    const others = (await this.openOf(states)).filter((id) => id !== holderId);
    await Promise.all(others.map((id) => this.end(id, { kind: 'block', attemptId, lockedUntil }, context)));
    return standing;
  }

  /** The ids of the sessions that wait for an answer, oldest first. */
  private async openOf(persons: readonly PersonState[]): Promise<string[]> {
    const sessionIds = sessionsIn(persons);
    const states = await Promise.all(
      sessionIds.map(async (sessionId) => (await this.aggregates.load(screeningSession, sessionId)).state),
    );
    return sessionIds.filter((_, index) => states[index] !== undefined && isOpen(states[index]));
  }

  /** Ends the session and removes its secrets. */
  private async end(sessionId: string, command: SessionCommand, context: ActionContext): Promise<Session> {
    const { state, events } = await this.aggregates.execute(screeningSession, sessionId, command, context);
    if (state.status === 'NONE') throw new Error(`Session ${sessionId} of a person does not exist`);
    if (events.length > 0) await this.secrets.forget(state.subjectId, sessionId);
    return state;
  }
}
