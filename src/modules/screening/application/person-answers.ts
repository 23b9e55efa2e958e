// Holds a person's answers in all sessions together against the limit (docs/contract/platform.md#wrong-answers-of-a-person). The person's stream decides: an answer
// is admitted there before the vendor is asked, and what it was is counted there before its own session records it. One that was not wrong is cleared in the
// same append, because no other session ends with it. Until then that session's attempt is open, so that whatever dies in between the recovery job does again.
import { Injectable } from '@nestjs/common';
import type { Change } from '../../../kernel/change.js';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { AnswerVerdict } from '../../../ports/identity-vendor.js';
import {
  attemptsLeft,
  lockAt,
  screenedPerson,
  type AnswerLimit,
  type PersonEvent,
  type PersonState,
} from '../domain/screened-person.js';
import { isOpen, screeningSession, type SessionCommand } from '../domain/screening-session.js';
import type { OpenStepUp, Session } from '../domain/session.js';
import { lockBy, type Standing } from '../domain/verdicts.js';
import { ScreeningPolicy } from './screening-policy.js';
import { SessionSecrets } from './session-secrets.js';

/** Open step-ups a person may have; a further one ends the oldest. */
const MAX_OPEN_STEP_UPS = 2;

/** An answer, or another call to the vendor, of one of the person's sessions. */
interface Asked {
  /** Of an answer by which the person authenticates again: the party it is given for. */
  readonly sessionId: string;
  readonly attemptId: string;
  readonly context: ActionContext;
}

export type Admission =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'locked'; readonly lockedUntil: string }
  | { readonly kind: 'others-first' };

@Injectable()
export class PersonAnswers {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly secrets: SessionSecrets,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
  ) {}

  /** Before the vendor is asked. `others-first`: answers in other sessions are with the vendor that may use up what is left. */
  async admit(
    { personId }: Pick<Session, 'personId'>,
    asked: Asked,
    giveUpAfter: Date,
    limit: AnswerLimit = this.policy.verdicts,
  ): Promise<Admission> {
    const admitting = this.admitting(personId, asked, giveUpAfter, limit);
    const { state } = await this.aggregates.executeTogether([], admitting, asked.context);
    return this.admissionIn(state, asked.attemptId);
  }

  /** The admission as part of more. */
  admitting(
    personId: string,
    { sessionId, attemptId }: Pick<Asked, 'sessionId' | 'attemptId'>,
    giveUpAfter: Date,
    limit: AnswerLimit = this.policy.verdicts,
  ): Change<PersonState, PersonEvent> {
    const command = { kind: 'admit-answer', now: this.clock.now(), sessionId, attemptId, giveUpAfter, limit } as const;
    return { decider: screenedPerson, id: personId, decide: (state) => screenedPerson.decide(command, state) };
  }

  /** What `admitting` came to. */
  admissionIn(state: PersonState, attemptId: string): Admission {
    if (state.admitted.some((answer) => answer.attemptId === attemptId)) return { kind: 'admitted' };
    const lockedUntil = lockAt(state, this.clock.now());
    return lockedUntil === null ? { kind: 'others-first' } : { kind: 'locked', lockedUntil };
  }

  /** The session whose answer was not admitted because the person is locked. */
  async block({ sessionId, attemptId, context }: Asked, lockedUntil: string): Promise<Session> {
    return this.end(sessionId, { kind: 'block', attemptId, lockedUntil }, context);
  }

  /** The answer was wrong. Safe to repeat. */
  async judgeWrong(
    { personId, stepUp }: OpenStepUp,
    asked: Asked,
    verdict: Extract<AnswerVerdict, { kind: 'wrong' | 'locked' }>,
  ): Promise<Standing> {
    const lockedUntil = lockBy({ now: this.clock.now(), verdict, policy: this.policy.verdicts }, stepUp);
    return this.countWrong(personId, asked, lockedUntil);
  }

  /**
   * The end of an admission as part of more, after a verdict that locks nobody: repeating it changes nothing. `person` gives the person as of
   * then, once it is decided on.
   */
  clearing(
    personId: string,
    { sessionId, attemptId }: Pick<Asked, 'sessionId' | 'attemptId'>,
    { kind }: AnswerVerdict,
  ): { readonly change: Change<PersonState, PersonEvent>; readonly person: () => PersonState } {
    let cleared = screenedPerson.initial;
    const command = { kind: 'clear-answer', sessionId, attemptId } as const;
    const decide = (person: PersonState): readonly PersonEvent[] => {
      // An answer that the vendor may still judge stays admitted.
      const events = kind === 'timed-out' ? [] : screenedPerson.decide(command, person);
      cleared = events.reduce((state, event) => screenedPerson.evolve(state, event), person);
      return events;
    };
    return { change: { decider: screenedPerson, id: personId, decide }, person: () => cleared };
  }

  standingOf(person: PersonState): Standing {
    const now = this.clock.now();
    return { lockedUntil: lockAt(person, now), attemptsRemaining: attemptsLeft(person, now, this.policy.verdicts) };
  }

  /** `lockedUntil`: when the answer locks the person whatever the count; null leaves it to the count. Safe to repeat. */
  async countWrong(
    personId: string,
    asked: Asked,
    lockedUntil: string | null,
    limit: AnswerLimit = this.policy.verdicts,
  ): Promise<Standing> {
    const { sessionId, attemptId } = asked;
    const command = { kind: 'count-wrong', now: this.clock.now(), sessionId, attemptId, lockedUntil, limit } as const;
    const { state } = await this.aggregates.execute(screenedPerson, personId, command, asked.context);
    const standing = this.standingOf(state);
    await this.endOthersOfLocked(state, asked, standing);
    return standing;
  }

  /** Ends the person's other sessions if the person is locked. */
  async endOthersOfLocked(person: PersonState, asked: Asked, { lockedUntil }: Standing): Promise<void> {
    if (lockedUntil !== null) await this.blockOthers(person, asked, lockedUntil);
  }

  /** The vendor never saw the answer. */
  async clear({ personId }: Pick<Session, 'personId'>, { sessionId, attemptId, context }: Asked): Promise<void> {
    await this.aggregates.execute(screenedPerson, personId, { kind: 'clear-answer', sessionId, attemptId }, context);
  }

  /** The vendor has locked the person, whatever it was asked. */
  async lock({ personId }: Session, asked: Asked, lockedUntil: string): Promise<void> {
    const { state } = await this.aggregates.execute(
      screenedPerson,
      personId,
      { kind: 'record-lock', sessionId: asked.sessionId, lockedUntil },
      asked.context,
    );
    await this.blockOthers(state, asked, lockedUntil);
  }

  /** A step-up was opened: the newest two stay, and none when the person was locked meanwhile. Gives the session as it is then. */
  async limitOpen(session: OpenStepUp, asked: Asked): Promise<Session> {
    const { state } = await this.aggregates.load(screenedPerson, session.personId);
    const lockedUntil = lockAt(state, this.clock.now());
    const open = await this.openOf(state);
    const excess = lockedUntil === null ? open.slice(0, -MAX_OPEN_STEP_UPS) : open;
    const command: SessionCommand =
      lockedUntil === null ? { kind: 'supersede' } : { kind: 'block', attemptId: asked.attemptId, lockedUntil };
    const ended = await Promise.all(excess.map((sessionId) => this.end(sessionId, command, asked.context)));
    return ended[excess.indexOf(asked.sessionId)] ?? session;
  }

  private async blockOthers(
    state: PersonState,
    { sessionId, attemptId, context }: Asked,
    lockedUntil: string,
  ): Promise<void> {
    const others = (await this.openOf(state)).filter((id) => id !== sessionId);
    await Promise.all(others.map((id) => this.end(id, { kind: 'block', attemptId, lockedUntil }, context)));
  }

  /** Ids of the sessions that wait for an answer, oldest first. */
  private async openOf({ sessionIds }: PersonState): Promise<string[]> {
    const states = await Promise.all(
      sessionIds.map(async (sessionId) => (await this.aggregates.load(screeningSession, sessionId)).state),
    );
    return sessionIds.filter((_, index) => states[index] !== undefined && isOpen(states[index]));
  }

  /** What it needed to go on with goes with it. */
  private async end(sessionId: string, command: SessionCommand, context: ActionContext): Promise<Session> {
    const { state, events } = await this.aggregates.execute(screeningSession, sessionId, command, context);
    if (state.status === 'NONE') throw new Error(`Session ${sessionId} of a person does not exist`);
    if (events.length > 0) await this.secrets.forget(state.subjectId, sessionId);
    return state;
  }
}
