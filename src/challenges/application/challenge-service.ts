import { Injectable } from '@nestjs/common';
import type { ExternalCall } from '../../external-calls/external-call.js';
import { ExternalCalls } from '../../external-calls/external-calls.js';
import type { ActionContext } from '../../kernel/context.js';
import { Clock } from '../../kernel/clock.js';
import type { Decider } from '../../kernel/decider.js';
import type { DomainEvent } from '../../kernel/domain-event.js';
import type { RateUse } from '../../kernel/rate-use.js';
import { AggregateStore, type LoadedAggregate } from '../../platform/aggregates/aggregate-store.js';
import { IdentityVendor, type RegistrationVerdict } from '../../ports/identity-vendor.js';
import { RateLimiter } from '../../ports/rate-limiter.js';
import { vendorCall } from '../../ports/vendor-call.js';
import { AnswerCounts, type Admission } from '../../published/answer-counts.js';
import type { AnswerLimit } from '../domain/answer-limit.js';
import type { NewAttempt } from '../domain/challenge.js';
import type { CallInput } from './challenge-call.js';
import type { About, ChallengeHolder } from './challenge-holder.js';
import { ChallengeRecorder, type Attempted } from './challenge-recorder.js';

/** A call to the vendor. `command` reserves the call, and the caller has checked that `loaded` accepts the command. */
export interface Asked<State, Command> {
  readonly id: string;
  readonly loaded: LoadedAggregate<State>;
  readonly command: Command;
  readonly about: About;
  /** The limits that are counted before the call. The recorder returns these uses when the call has not used them. */
  readonly uses: readonly RateUse[];
  readonly context: ActionContext;
}

/** A holder may reserve a call with a command of its own. */
type ReservingHolder<State, Limit extends AnswerLimit, Command> = ChallengeHolder<State, Limit> & {
  readonly decider: Decider<State, Command, DomainEvent>;
};

/** `asked`: the holder's state tells how the call ended. `known`: the attempt was already reserved, perhaps by another process. */
export type Asking = { readonly kind: 'asked' | 'known' } | Exclude<Admission, { readonly kind: 'admitted' }>;

/** Makes the calls to the vendor about the challenges of all holders. */
@Injectable()
export class ChallengeService {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly calls: ExternalCalls,
    private readonly vendor: IdentityVendor,
    private readonly counts: AnswerCounts,
    private readonly recorder: ChallengeRecorder,
    private readonly limiter: RateLimiter,
    private readonly clock: Clock,
  ) {}

  /** Reserves the attempt, has the call made, and waits until its end is recorded or its time limit has passed. Throws if a limit refuses. */
  async ask<State, Limit extends AnswerLimit, Command extends NewAttempt>(
    holder: ReservingHolder<State, Limit, NoInfer<Command>>,
    call: ExternalCall<CallInput>,
    asked: Asked<State, Command>,
    input: CallInput,
  ): Promise<Asking> {
    const { id, about, context, uses } = asked;
    const { attemptId, settleAfter } = asked.command;
    const attempt = { id, attemptId, subject: about.subjectId, context, vendor: about.vendor, settleAfter };
    await this.limiter.admit(uses);
    let asking: Asking | null = null;
    try {
      await this.calls.admit(call, attempt);
      asking = await this.reserve(holder, asked, input.kind === 'otp' || input.kind === 'kba');
    } finally {
      if (asking?.kind !== 'asked') {
        await this.calls.withdraw(call, attempt);
        await this.limiter.giveBack(uses);
      }
    }
    if (asking.kind === 'asked') {
      await this.limiter.setAside(attemptId, uses);
      await this.calls.make(call, attempt, input);
    }
    return asking;
  }

  /**
   * Settles a call that has no recorded verdict. The process of the call died or the vendor was late, so it asks the vendor for the result. The
   * module of the holder records a registration itself. A call that is old enough ends even when the result does not fit it. Safe to repeat.
   */
  async settle<State, Limit extends AnswerLimit>(
    holder: ChallengeHolder<State, Limit>,
    attempted: Attempted<State>,
    signal: AbortSignal,
    recordRegistration: (verdict: RegistrationVerdict) => Promise<void> = async () => undefined,
  ): Promise<void> {
    const { id, attemptId, context, known } = attempted;
    const held = holder.read(known.state);
    if (held === null) return;
    const { subjectId, vendor, call } = held;
    const outcome = await this.vendor.outcomeOf({
      ...vendorCall({ id, attemptId, subject: subjectId, context, vendor }),
      signal,
    });
    if (outcome.kind === 'not-executed') return this.recorder.notExecuted(holder, attempted);
    if (outcome.kind === 'registration') {
      if (call?.operation === null) await recordRegistration(outcome.verdict);
    } else if ('verdict' in outcome) await this.recorder.record(holder, attempted, outcome.verdict);
    const giveUp = { kind: 'give-up', now: this.clock.now(), attemptId } as const;
    const { state } = await this.aggregates.execute(holder.decider, id, giveUp, context);
    await holder.prune(id, state, subjectId);
  }

  /**
   * Reserves the attempt in the holder before the attempt is admitted. The recovery job ends an attempt that was stored without being admitted.
   * Admitting counts the answers of the person over all holders (docs/contract/platform.md#wrong-answers-of-a-person).
   */
  private async reserve<State, Limit extends AnswerLimit, Command extends NewAttempt>(
    holder: ReservingHolder<State, Limit, NoInfer<Command>>,
    { id, loaded, command, about, context }: Asked<State, Command>,
    isAnswer: boolean,
  ): Promise<Asking> {
    const { attemptId, giveUpAfter } = command;
    // Read models need no notice, because a status request is answered from the log.
    const unseen = { ...context, skipReadYourWrites: true } as const;
    const decider: Decider<State, Command, DomainEvent> = holder.decider;
    const known = await this.aggregates.execute(decider, { id, known: loaded }, command, unseen);
    if (known.events.length === 0) return { kind: 'known' };
    if (!isAnswer) return { kind: 'asked' };
    const answer = { holderId: id, attemptId, limit: holder.limit, context };
    const admission = await this.counts.admit(about.personIds, answer, giveUpAfter);
    if (admission.kind === 'admitted') return { kind: 'asked' };
    await this.recorder.notExecuted(holder, { id, attemptId, context, known });
    return admission;
  }
}
