import { Injectable } from '@nestjs/common';
import type { Owner } from '../../../kernel/context.js';
import { keyedId } from '../../../kernel/ids.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { RateUse } from '../../../ports/rate-limiter.js';
import { Vault } from '../../../ports/vault.js';
import { KnownPersons } from '../../../published/known-persons.js';
import { existing, screeningSession } from '../domain/screening-session.js';
import { streamsOf } from './person-answers.js';
import { SessionSecrets } from './session-secrets.js';
import { SubmissionLimits } from './submission-limits.js';

/** Finds persons by their sessions and tokens. Each token has a stream of its own, named by a keyed hash. */
@Injectable()
export class PersonsOfSessions extends KnownPersons {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly secrets: SessionSecrets,
    private readonly limits: SubmissionLimits,
    private readonly vault: Vault,
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
    await this.secrets.keepPerson(sessionId, session, token);
  }

  private async phoneOf(sessionId: string): Promise<string | undefined> {
    const { subjectId } = existing((await this.aggregates.load(screeningSession, sessionId)).state);
    return (await this.secrets.of(subjectId, sessionId)).phoneId;
  }
}
