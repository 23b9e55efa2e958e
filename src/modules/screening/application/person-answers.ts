// Holds a person's answers in all sessions together against the limit (docs/contract/platform.md#wrong-answers-of-a-person). The streams of the person's names
// decide: an answer is admitted in each before the vendor is asked, and what it was is counted in each before its own session records it. One that was not wrong is cleared in the
// same append, because no other session ends with it. Until then that session's attempt is open, so that whatever dies in between the recovery job does again.
import { Injectable } from '@nestjs/common';
import { latest, lockAt, type AnswerLimit } from '../../../challenges/domain/answer-limit.js';
import { lockBy, type Standing } from '../../../challenges/domain/verdict.js';
import type { Change } from '../../../kernel/change.js';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext, Owner } from '../../../kernel/context.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { AnswerVerdict } from '../../../ports/identity-vendor.js';
import {
  attemptsLeftTo,
  screenedPerson,
  sessionsIn,
  type PersonCommand,
  type PersonEvent,
  type PersonState,
} from '../domain/screened-person.js';
import { isOpen, screeningSession, type SessionCommand } from '../domain/screening-session.js';
import type { OpenStepUp, Session } from '../domain/session.js';
import { countOf } from '../domain/verdicts.js';
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

/** Changes of the streams of a person, as part of more. `outcome` gives what they came to, once they are decided on. */
interface PersonChanges<Outcome> {
  readonly changes: readonly Change<PersonState, PersonEvent>[];
  readonly outcome: () => Outcome;
}

/** Hears of each wrong answer, for those who watch how many there are. */
export abstract class WrongAnswerObserver {
  abstract wrongAnswer(owner: Owner, locked: boolean): void;
}

/** Streams of the person behind a session: of the person first, then of the further names under which wrong answers count. */
export function streamsOf({ personId, countedAs = [] }: Pick<Session, 'personId' | 'countedAs'>): readonly string[] {
  return [personId, ...countedAs];
}

/** Wherever several names of a person are given, an answer counts under each, and a lock under any of them locks the person. */
@Injectable()
export class PersonAnswers {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly secrets: SessionSecrets,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
    private readonly observer: WrongAnswerObserver,
  ) {}

  /** Before the vendor is asked. `others-first`: answers in other sessions are with the vendor that may use up what is left. */
  async admit(names: readonly string[], asked: Asked, giveUpAfter: Date, limit: AnswerLimit): Promise<Admission> {
    const { changes, outcome } = this.admitting(names, asked, giveUpAfter, limit);
    await this.together(changes, asked.context);
    const admission = outcome();
    if (admission.kind !== 'admitted') await this.clear(names, asked);
    return admission;
  }

  /** The admission as part of more. Where it is refused, some names may have admitted the answer: then it is to be cleared. */
  admitting(
    names: readonly string[],
    { sessionId, attemptId }: Pick<Asked, 'sessionId' | 'attemptId'>,
    giveUpAfter: Date,
    limit: AnswerLimit = this.policy.verdicts,
  ): PersonChanges<Admission> {
    const command = { kind: 'admit-answer', now: this.clock.now(), sessionId, attemptId, giveUpAfter, limit } as const;
    const { changes, outcome } = changing(names, command);
    return { changes, outcome: () => this.admissionIn(outcome(), attemptId) };
  }

  private admissionIn(states: readonly PersonState[], attemptId: string): Admission {
    const isAdmitted = states.every(({ admitted }) => admitted.some((answer) => answer.attemptId === attemptId));
    if (isAdmitted) return { kind: 'admitted' };
    const { lockedUntil } = this.standingOf(states);
    return lockedUntil === null ? { kind: 'others-first' } : { kind: 'locked', lockedUntil };
  }

  /** The session whose answer was not admitted because the person is locked. */
  async block({ sessionId, attemptId, context }: Asked, lockedUntil: string): Promise<Session> {
    return this.end(sessionId, { kind: 'block', attemptId, lockedUntil }, context);
  }

  /** The answer was wrong. Safe to repeat. */
  async judgeWrong(
    session: OpenStepUp,
    asked: Asked,
    verdict: Extract<AnswerVerdict, { kind: 'wrong' | 'locked' }>,
  ): Promise<Standing> {
    const lockedUntil = lockBy(verdict, this.clock.now(), this.policy.verdicts, countOf(session.stepUp));
    return this.countWrong(streamsOf(session), asked, lockedUntil);
  }

  /** The end of an admission as part of more, after a verdict that locks no person; a repetition changes nothing. */
  clearing(
    names: readonly string[],
    { sessionId, attemptId }: Pick<Asked, 'sessionId' | 'attemptId'>,
    { kind }: AnswerVerdict,
  ): PersonChanges<readonly PersonState[]> {
    // An answer that the vendor may still judge stays admitted.
    return changing(names, kind === 'timed-out' ? null : { kind: 'clear-answer', sessionId, attemptId });
  }

  standingOf(states: readonly PersonState[], limit: AnswerLimit = this.policy.verdicts): Standing {
    const now = this.clock.now();
    return {
      lockedUntil: latest(states.map((state) => lockAt(state, now))),
      attemptsRemaining: Math.min(...states.map((state) => attemptsLeftTo(state, now, limit))),
    };
  }

  /** `until`: when the answer locks the person whatever the count; null leaves it to the count. Safe to repeat. */
  async countWrong(
    names: readonly string[],
    asked: Asked,
    until: string | null,
    limit: AnswerLimit = this.policy.verdicts,
  ): Promise<Standing> {
    const { sessionId, attemptId, context } = asked;
    const states: PersonState[] = [];
    let lockedUntil = until;
    let isNew = false;
    // The widest first: its lock is one of the others too.
    for (const name of [...names].reverse()) {
      const command = { kind: 'count-wrong', now: this.clock.now(), sessionId, attemptId, lockedUntil, limit } as const;
      const { state, events } = await this.aggregates.execute(screenedPerson, name, command, context);
      states.unshift(state);
      lockedUntil = latest([lockedUntil, lockAt(state, this.clock.now())]);
      isNew ||= events.length > 0;
    }
    const standing = this.standingOf(states, limit);
    if (isNew) this.observer.wrongAnswer(context, standing.lockedUntil !== null);
    await this.endOthersOfLocked(states, asked, standing);
    return standing;
  }

  /** Ends the person's other sessions if the person is locked. */
  async endOthersOfLocked(
    states: readonly PersonState[],
    { sessionId, attemptId, context }: Asked,
    { lockedUntil }: Standing,
  ): Promise<void> {
    if (lockedUntil === null) return;
    const others = (await this.openOf(states)).filter((id) => id !== sessionId);
    await Promise.all(others.map((id) => this.end(id, { kind: 'block', attemptId, lockedUntil }, context)));
  }

  /** The vendor never saw the answer. */
  async clear(
    names: readonly string[],
    { sessionId, attemptId, context }: Asked,
    limit: AnswerLimit = this.policy.verdicts,
  ): Promise<Standing> {
    const { changes, outcome } = changing(names, { kind: 'clear-answer', sessionId, attemptId });
    await this.together(changes, context);
    return this.standingOf(outcome(), limit);
  }

  /** The vendor has locked the person, whatever it was asked. */
  async lock(session: Session, asked: Asked, lockedUntil: string): Promise<void> {
    const { sessionId, context } = asked;
    const { changes, outcome } = changing(streamsOf(session), { kind: 'record-lock', sessionId, lockedUntil });
    await this.together(changes, context);
    await this.endOthersOfLocked(outcome(), asked, { lockedUntil, attemptsRemaining: 0 });
  }

  /** A step-up was opened: the newest two stay, and none when the person was locked meanwhile. Gives the session as it is then. */
  async limitOpen(session: OpenStepUp, asked: Asked): Promise<Session> {
    const states = await this.load(streamsOf(session));
    const { lockedUntil } = this.standingOf(states);
    const open = await this.openOf(states);
    const excess = lockedUntil === null ? open.slice(0, -MAX_OPEN_STEP_UPS) : open;
    const command: SessionCommand =
      lockedUntil === null ? { kind: 'supersede' } : { kind: 'block', attemptId: asked.attemptId, lockedUntil };
    const ended = await Promise.all(excess.map((sessionId) => this.end(sessionId, command, asked.context)));
    return ended[excess.indexOf(asked.sessionId)] ?? session;
  }

  load(names: readonly string[]): Promise<readonly PersonState[]> {
    return Promise.all(names.map(async (name) => (await this.aggregates.load(screenedPerson, name)).state));
  }

  /** Changes of different aggregates, in this order. */
  async together(changes: readonly Change<unknown, DomainEvent>[], context: ActionContext): Promise<void> {
    const last = changes.at(-1);
    if (last !== undefined) await this.aggregates.executeTogether(changes.slice(0, -1), last, context);
  }

  /** Ids of the sessions that wait for an answer, oldest first. */
  private async openOf(persons: readonly PersonState[]): Promise<string[]> {
    const sessionIds = sessionsIn(persons);
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

/** The same command to each stream; null changes none of them. `outcome` gives their states afterwards. */
function changing(names: readonly string[], command: PersonCommand | null): PersonChanges<readonly PersonState[]> {
  const states = names.map(() => screenedPerson.initial);
  const changes = names.map((id, index) => ({
    decider: screenedPerson,
    id,
    decide: (state: PersonState) => {
      const events = command === null ? [] : screenedPerson.decide(command, state);
      states[index] = events.reduce((before, event) => screenedPerson.evolve(before, event), state);
      return events;
    },
  }));
  return { changes, outcome: () => states };
}
