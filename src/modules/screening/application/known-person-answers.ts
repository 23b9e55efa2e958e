import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { Owner } from '../../../kernel/context.js';
import type { Environment } from '../../../kernel/environment.js';
import { keyedId } from '../../../kernel/ids.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Vault } from '../../../ports/vault.js';
import type { RateUse } from '../../../ports/rate-limiter.js';
import { KnownPersons, type KnownAdmission, type KnownAnswer } from '../../../published/known-persons.js';
import { lockAt, screenedPerson, type AnswerLimit } from '../domain/screened-person.js';
import { screeningSession } from '../domain/screening-session.js';
import { PersonAnswers } from './person-answers.js';
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
    return [existing((await this.aggregates.load(screeningSession, sessionId)).state).personId, named];
  }

  override async lockedUntil(personIds: readonly string[]): Promise<string | null> {
    const now = this.clock.now();
    const ends = personIds.map(async (id) => lockAt((await this.aggregates.load(screenedPerson, id)).state, now));
    return latest(await Promise.all(ends));
  }

  override async admit(personIds: readonly string[], answer: KnownAnswer, giveUpAfter: Date): Promise<KnownAdmission> {
    for (const [index, personId] of personIds.entries()) {
      const admission = await this.answers.admit({ personId }, asked(answer), giveUpAfter, limitOf(answer));
      if (admission.kind === 'admitted') continue;
      await this.clear(personIds.slice(0, index), answer);
      return admission;
    }
    return { kind: 'admitted' };
  }

  override async countWrong(
    personIds: readonly string[],
    answer: KnownAnswer,
    lockedUntil: string | null,
  ): Promise<string | null> {
    const ends: (string | null)[] = [];
    for (const personId of personIds)
      ends.push((await this.answers.countWrong(personId, asked(answer), lockedUntil, limitOf(answer))).lockedUntil);
    return latest(ends);
  }

  override async codesTo(
    sessionId: string | null,
    personIds: readonly string[],
    environment: Environment,
  ): Promise<readonly RateUse[]> {
    const named = (sessionId === null ? undefined : await this.phoneOf(sessionId)) ?? personIds.at(-1);
    return named === undefined ? [] : this.limits.smsTo(environment, named);
  }

  override async keepToken(sessionId: string, token: string): Promise<void> {
    const session = existing((await this.aggregates.load(screeningSession, sessionId)).state);
    await this.recorder.keepPerson(sessionId, session, token);
  }

  override async clear(personIds: readonly string[], answer: KnownAnswer): Promise<string | null> {
    for (const personId of personIds) await this.answers.clear({ personId }, asked(answer));
    return this.lockedUntil(personIds);
  }

  private async phoneOf(sessionId: string): Promise<string | undefined> {
    const { subjectId } = existing((await this.aggregates.load(screeningSession, sessionId)).state);
    return (await this.secrets.of(subjectId, sessionId)).phoneId;
  }
}

function asked({ partyId, attemptId, context }: KnownAnswer): Parameters<PersonAnswers['countWrong']>[1] {
  return { sessionId: partyId, attemptId, context };
}

function limitOf({ limit: { attemptsAllowed, lockSeconds } }: KnownAnswer): AnswerLimit {
  return { attemptsAllowed, blockSeconds: lockSeconds };
}

function latest(ends: readonly (string | null)[]): string | null {
  return ends.reduce((one, other) => (one === null || (other !== null && other > one) ? other : one), null);
}
