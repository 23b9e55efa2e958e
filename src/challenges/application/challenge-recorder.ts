import { Injectable } from '@nestjs/common';
import { Clock } from '../../kernel/clock.js';
import type { ActionContext } from '../../kernel/context.js';
import { AggregateStore, type LoadedAggregate } from '../../platform/aggregates/aggregate-store.js';
import { RateLimiter } from '../../ports/rate-limiter.js';
import { AnswerCounts, type CountedAnswer } from '../../published/answer-counts.js';
import type { AnswerLimit } from '../domain/answer-limit.js';
import { isAnswer, lockBy, wasUsed, type Count, type Standing, type Verdict } from '../domain/verdict.js';
import type { ChallengeHolder } from './challenge-holder.js';
import { withoutSecrets, type VendorVerdict } from './vendor-verdict.js';

/** A call of a holder. `known` is the holder's state before the vendor was called. */
export interface Attempted<State> {
  readonly id: string;
  readonly attemptId: string;
  readonly context: ActionContext;
  readonly known: LoadedAggregate<State>;
}

/**
 * Records the vendor's verdict first in the vault, then for the person, and last in the holder. The call stays open until the last step, so the
 * recovery job can repeat all steps after a process has died.
 */
@Injectable()
export class ChallengeRecorder {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly counts: AnswerCounts,
    private readonly limiter: RateLimiter,
    private readonly clock: Clock,
  ) {}

  /** Records nothing while the vendor may still answer the call. */
  async record<State, Limit extends AnswerLimit>(
    holder: ChallengeHolder<State, Limit>,
    attempted: Attempted<State>,
    verdict: VendorVerdict,
  ): Promise<void> {
    const { id, attemptId, context, known } = attempted;
    const held = holder.read(known.state);
    if (held?.call?.attemptId !== attemptId) return this.notExecuted(holder, attempted);
    if (verdict.kind === 'timed-out') return;
    const { operation } = held.call;
    const isKept = (await holder.keep(id, known.state, verdict, context)) === 'kept';
    const said: Verdict = isKept ? withoutSecrets(verdict) : { kind: 'person-erased' };
    const answer = { holderId: id, attemptId, limit: holder.limit, context };
    const counted = isAnswer(operation) ? holder.count(known.state, await this.clock.of(context)) : null;
    const standing = await this.count(held.personIds, answer, said, counted);
    // This step comes before the end of the call, because no step is repeated after the end. The first process that records an attempt decides.
    if (wasUsed(said, operation)) await this.limiter.forgetSetAside(attemptId);
    else await this.limiter.giveBackSetAside(attemptId);
    const recording = { attemptId, now: await this.clock.of(context), verdict: said, policy: holder.limit, standing };
    const { state } = await this.aggregates.execute(
      holder.decider,
      { id, known },
      { kind: 'record-verdict', ...recording },
      context,
    );
    await holder.prune(id, state, held.subjectId);
  }

  /** The vendor has not executed the call, and will never execute it. */
  async notExecuted<State, Limit extends AnswerLimit>(
    holder: ChallengeHolder<State, Limit>,
    { id, attemptId, context, known }: Attempted<State>,
  ): Promise<void> {
    const held = holder.read(known.state);
    if (held === null) return;
    // The call may already have ended, because another answer of the person ended the holder while the call waited for a worker.
    await this.counts.clear(held.personIds, { holderId: id, attemptId, limit: holder.limit, context });
    await this.limiter.giveBackSetAside(attemptId);
    const command = { kind: 'record-not-executed', attemptId } as const;
    const { state } = await this.aggregates.execute(holder.decider, { id, known }, command, context);
    await holder.prune(id, state, held.subjectId);
  }

  /** `counted` is the count of the holder; null for a call that is not an answer. */
  private async count(
    personIds: readonly string[],
    answer: CountedAnswer,
    said: Verdict,
    counted: Count | null,
  ): Promise<Standing | null> {
    const lockedUntil = lockBy(said, await this.clock.of(answer.context), answer.limit, counted);
    if (counted !== null)
      return said.kind === 'wrong' || said.kind === 'locked'
        ? this.counts.countWrong(personIds, answer, lockedUntil)
        : this.counts.clear(personIds, answer);
    if (lockedUntil !== null) await this.counts.lock(personIds, answer, lockedUntil);
    return null;
  }
}
