import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Reports } from '../../../published/reports.js';
import { holdsApplicant, screeningSession } from '../domain/screening-session.js';
import { ScreeningPolicy } from './screening-policy.js';
import { SessionSecrets } from './session-secrets.js';

/**
 * Destroys the person's own data of a verified session when its report is released, or when the data were kept long enough. An income vendor may need
 * the data after the report. Safe to repeat.
 */
@UseCase()
export class DiscardApplicant extends Command<void> {
  constructor(readonly sessionId: string) {
    super();
  }
}

@Handles(DiscardApplicant)
export class DiscardApplicantHandler implements ICommandHandler<DiscardApplicant> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly secrets: SessionSecrets,
    private readonly reports: Reports,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
  ) {}

  async execute({ sessionId }: DiscardApplicant): Promise<void> {
    const loaded = await this.aggregates.load(screeningSession, sessionId);
    const { state, owner } = loaded;
    if (!holdsApplicant(state) || state.status !== 'VERIFIED' || owner === null) return;
    const over = this.policy.applicantKeptUntil(state.verifiedAt);
    const isReportOnly = !state.applicantFor.includes('income');
    const isServed = isReportOnly && (await this.reports.expiryOf(sessionId)) !== null;
    if (!isServed && (await this.clock.of(owner, over)) < new Date(over)) return;
    await this.secrets.forgetApplicant(state.subjectId, sessionId);
    const context = systemContext('screening-sweep', owner);
    const known = { id: sessionId, known: loaded };
    await this.aggregates.execute(screeningSession, known, { kind: 'record-applicant-discarded' }, context);
  }
}
