import { Query, type IQueryHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import type { ScreeningFacts } from '../../../published/screenings.js';
import { ReportAccess } from './report-access.js';

/** The session whose disclosures the caller may see. Any other session gets the same 404 (docs/contract/platform.md#disclosures). */
@UseCase()
export class FindDisclosedSession extends Query<ScreeningFacts> {
  constructor(
    readonly sessionId: string,
    /** `own`: a page of the session's own account or grant. `own-and-children`: a server of the account or its parent. */
    readonly reach: 'own' | 'own-and-children',
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(FindDisclosedSession)
export class FindDisclosedSessionHandler implements IQueryHandler<FindDisclosedSession> {
  constructor(private readonly access: ReportAccess) {}

  execute({ sessionId, reach, context }: FindDisclosedSession): Promise<ScreeningFacts> {
    return reach === 'own'
      ? this.access.ownSession(sessionId, context)
      : this.access.sessionOnServer(sessionId, context);
  }
}
