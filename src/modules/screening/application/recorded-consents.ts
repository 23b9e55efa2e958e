import { Injectable } from '@nestjs/common';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Accounts } from '../../../published/accounts.js';
import { Consents, type GivenConsent } from '../../../published/consents.js';
import { consent } from '../domain/consent.js';
import { consentOf } from './submission.js';

/** The consents of sessions that are not screenings. A screening records its consent together with its submission. */
@Injectable()
export class RecordedConsents extends Consents {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly accounts: Accounts,
  ) {
    super();
  }

  override async record(sessionId: string, given: GivenConsent, context: CallerContext): Promise<void> {
    const account = await this.accounts.find(context.accountId);
    if (account === null) throw new DomainError('request.unauthenticated');
    await this.aggregates.execute(consent, sessionId, consentOf(given, account), context);
  }
}
