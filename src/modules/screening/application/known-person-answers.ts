import { Injectable } from '@nestjs/common';
import { latest, lockAt } from '../../../challenges/domain/answer-limit.js';
import { Clock } from '../../../kernel/clock.js';
import type { Owner } from '../../../kernel/context.js';
import { keyedId } from '../../../kernel/ids.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Vault } from '../../../ports/vault.js';
import type { RateUse } from '../../../ports/rate-limiter.js';
import {
  KnownPersons,
  type KnownAdmission,
  type KnownAnswer,
  type KnownStanding,
} from '../../../published/known-persons.js';
import { screeningSession } from '../domain/screening-session.js';
import { PersonAnswers, streamsOf } from './person-answers.js';
import { SessionSecrets } from './session-secrets.js';
import { SubmissionLimits } from './submission-limits.js';
import { existing, VendorResultRecorder } from './vendor-result-recorder.js';

/** The same count as that of screening sessions. A token has a stream of its own, named by a keyed hash. */
@Injectable()
export class KnownPersonAnswers extends KnownPersons {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly answers: PersonAnswers,
    private readonly recorder: VendorResultRecorder,
    private readonly secrets: SessionSecrets,
    private readonly limits: SubmissionLimits,
    private readonly vault: Vault,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async idsOf(
    sessionId: string | null,
    token: string,
    { accountId, environment }: Owner,
  ): Promise<readonly string[]> {
    const key = await this.vault.installationKey('person');
    const named = keyedId(key, 'token', accountId ?? '', environment ?? '', token);
    if (sessionId === null) return [named];
    return [...streamsOf(existing((await this.aggregates.load(screeningSession, sessionId)).state)), named];
  }

  override async lockedUntil(personIds: readonly string[]): Promise<string | null> {
    return latest((await this.answers.load(personIds)).map((state) => lockAt(state, this.clock.now())));
  }

  override admit(personIds: readonly string[], answer: KnownAnswer, giveUpAfter: Date): Promise<KnownAdmission> {
    return this.answers.admit(personIds, asked(answer), giveUpAfter, answer.limit);
  }

  override countWrong(
    personIds: readonly string[],
    answer: KnownAnswer,
    lockedUntil: string | null,
  ): Promise<KnownStanding> {
    return this.answers.countWrong(personIds, asked(answer), lockedUntil, answer.limit);
  }

  override async codesTo(
    sessionId: string | null,
    personIds: readonly string[],
    owner: Owner,
  ): Promise<readonly RateUse[]> {
    const named = (sessionId === null ? undefined : await this.phoneOf(sessionId)) ?? personIds.at(-1);
    return named === undefined ? [] : this.limits.smsTo(owner, named);
  }

  override async keepToken(sessionId: string, token: string): Promise<void> {
    const session = existing((await this.aggregates.load(screeningSession, sessionId)).state);
    await this.recorder.keepPerson(sessionId, session, token);
  }

  override clear(personIds: readonly string[], answer: KnownAnswer): Promise<KnownStanding> {
    return this.answers.clear(personIds, asked(answer), answer.limit);
  }

  private async phoneOf(sessionId: string): Promise<string | undefined> {
    const { subjectId } = existing((await this.aggregates.load(screeningSession, sessionId)).state);
    return (await this.secrets.of(subjectId, sessionId)).phoneId;
  }
}

function asked({ partyId, attemptId, context }: KnownAnswer): Parameters<PersonAnswers['countWrong']>[1] {
  return { sessionId: partyId, attemptId, context };
}
