import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { Clock } from '../../../kernel/clock.js';
import { isOpenTo, type CallerContext } from '../../../kernel/context.js';
import { derivedId, newId } from '../../../kernel/ids.js';
import { DomainError, fieldError } from '../../../kernel/domain-error.js';
import type { VendorChoice } from '../../../kernel/vendor-choice.js';
import { AggregateStore, unstored } from '../../../platform/aggregates/aggregate-store.js';
import { TestTraffic } from '../../../platform/aggregates/test-traffic.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { Accounts } from '../../../published/accounts.js';
import { Consents, type GivenConsent } from '../../../published/consents.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import { SessionGrants } from '../../../published/session-grants.js';
import { VendorRoutes } from '../../../published/vendor-routes.js';
import type { Route } from '../domain/income.js';
import { incomeSession, vendorOf } from '../domain/income-session.js';
import { IncomePolicy } from './income-policy.js';
import { IncomeProgress } from './income-progress.js';
import { IncomeSecrets } from './income-secrets.js';

export interface IncomeInquiry {
  readonly screeningSessionId: string | null;
  readonly routes: readonly [Route, ...Route[]];
}

/**
 * Opens an income session and starts its first route at the vendor. A second opening of the same session changes nothing. The recovery job finishes
 * the work of a process that died. Returns the session's id.
 */
@UseCase()
export class OpenIncomeSession extends Command<string> {
  constructor(
    readonly request: {
      readonly incomeSessionId: string;
      readonly inquiry: IncomeInquiry;
      /** The session grant under which the session is opened; null if none exists. */
      readonly grantId: string | null;
      /** The address of the page's browser. */
      readonly clientAddress: string | null;
      readonly consent: GivenConsent;
    },
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(OpenIncomeSession)
export class OpenIncomeSessionHandler implements ICommandHandler<OpenIncomeSession> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly testTraffic: TestTraffic,
    private readonly accounts: Accounts,
    private readonly screenings: Screenings,
    private readonly grants: SessionGrants,
    private readonly consents: Consents,
    private readonly calls: ExternalCalls,
    private readonly vendorRoutes: VendorRoutes,
    private readonly progress: IncomeProgress,
    private readonly secrets: IncomeSecrets,
    private readonly limiter: RateLimiter,
    private readonly policy: IncomePolicy,
    private readonly clock: Clock,
  ) {}

  async execute({
    request: { incomeSessionId, inquiry, grantId, clientAddress, consent },
    context,
  }: OpenIncomeSession): Promise<string> {
    const account = await this.accounts.find(context.accountId);
    if (!account) throw new DomainError('request.unauthenticated');
    if (!this.accounts.mayReachVendors(account, context.environment)) throw new DomainError('account.not_live');
    this.testTraffic.admit(context);
    const { screeningSessionId, routes } = inquiry;
    const ownSubject = derivedId('income-subject', incomeSessionId);
    const { subjectId, vendors } =
      screeningSessionId === null
        ? { subjectId: ownSubject, vendors: await this.vendorRoutes.choose({ ...context, personId: ownSubject }) }
        : await this.verified(screeningSessionId, context);
    const externalIdHash = grantId === null ? null : ((await this.grants.find(grantId))?.externalIdHash ?? null);
    const now = this.clock.now();
    const times = this.policy.attempt(newId(), now);
    const asked = askedVendors(vendors);
    const vendor = vendorOf(asked, routes[0]);
    const attempt = { id: incomeSessionId, ...times, subject: subjectId, context, vendor };
    // Throws while the vault is unavailable. The session is not opened then, because the vendor's answer could not be stored.
    await this.secrets.isErased(subjectId);
    const uses = this.policy.opening({ screeningSessionId, grantId, clientAddress }, context);
    await this.limiter.admit(uses);
    let opened = false;
    try {
      await this.calls.admit(this.progress, attempt);
      if (grantId !== null) await this.grants.moveDetails(grantId, subjectId, context);
      await this.consents.record(incomeSessionId, consent, context);
      const { events } = await this.aggregates.execute(
        incomeSession,
        { id: incomeSessionId, known: unstored(incomeSession.initial) },
        {
          kind: 'open',
          routes,
          screeningSessionId,
          subjectId,
          ...(grantId && { grantId }),
          ...(externalIdHash && { externalIdHash }),
          expiresAt: this.policy.expiresAt(now),
          ...asked,
          attempt: times,
        },
        context,
      );
      opened = events.length > 0;
    } finally {
      if (!opened) await Promise.all([this.calls.withdraw(this.progress, attempt), this.limiter.giveBack(uses)]);
    }
    if (opened) await this.calls.make(this.progress, attempt, null);
    return incomeSessionId;
  }

  /**
   * The caller's own verified screening. The screening's vendors know the person. An unknown, a foreign and an erased screening give the same error.
   */
  private async verified(screeningSessionId: string, context: OpenIncomeSession['context']): Promise<ScreeningFacts> {
    const field = 'income.screening';
    const screening = await this.screenings.find(screeningSessionId);
    if (!screening || !isOpenTo(screening, screening, context)) throw new DomainError('screening.not_found', { field });
    if (screening.status !== 'VERIFIED')
      throw fieldError('request.invalid', field, 'must be a verified screening session');
    if ((await this.screenings.reference(screeningSessionId, 'income')) === null)
      throw new DomainError('screening.not_found', { field });
    return screening;
  }
}

function askedVendors({ income, banking }: VendorChoice): { readonly vendor: string; readonly bankingVendor?: string } {
  return { vendor: income, ...(banking !== undefined && { bankingVendor: banking }) };
}
