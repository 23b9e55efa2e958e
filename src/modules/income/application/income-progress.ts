// Advances an open income session as far as the vendor allows: starts the inquiry, asks for its outcome, and continues with the next route. The use
// case that opens a session and the recovery job call it.
import { Injectable } from '@nestjs/common';
import { type Attempt, ExternalCall } from '../../../external-calls/external-call.js';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { newId } from '../../../kernel/ids.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { IncomeVendor, type IncomeOutcome } from '../../../ports/income-vendor.js';
import { vendorCall, type NoVerdict, type VendorCall } from '../../../ports/vendor-call.js';
import { Screenings } from '../../../published/screenings.js';
import type { IncomeState, NoOutcomeCause, OpenIncomeSession } from '../domain/income.js';
import {
  changesVendor,
  incomeSession,
  isOpen,
  isOverdue,
  pending,
  vendorOf,
  type IncomeCommand,
  type NewAttempt,
} from '../domain/income-session.js';
import { IncomePolicy } from './income-policy.js';
import { IncomeSecrets } from './income-secrets.js';

export interface KnownSession {
  readonly incomeSessionId: string;
  readonly context: ActionContext;
  readonly loaded: LoadedAggregate<IncomeState>;
}

/** The time limits of a call that has already begun. */
type Within = Pick<VendorCall, 'signal' | 'mayAsk'>;

@Injectable()
export class IncomeProgress extends ExternalCall<null> {
  override readonly vendor = 'income-vendor';
  override readonly operation = 'start';
  override readonly semantics = 'idempotent';

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly incomeVendor: IncomeVendor,
    private readonly secrets: IncomeSecrets,
    private readonly screenings: Screenings,
    private readonly policy: IncomePolicy,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async askAndRecord(call: VendorCall, { id, attemptId, context }: Attempt): Promise<void> {
    const loaded = await this.aggregates.load(incomeSession, id);
    if (pending(loaded.state, attemptId)) await this.advance({ incomeSessionId: id, context, loaded }, call);
  }

  override async recordNotAsked({ id, attemptId, context }: Attempt): Promise<void> {
    const loaded = await this.aggregates.load(incomeSession, id);
    const looks = pending(loaded.state, attemptId)?.looks ?? 0;
    await this.aggregates.execute(
      incomeSession,
      { id, known: loaded },
      { kind: 'record-no-outcome', now: this.clock.now(), attemptId, looks, cause: 'VENDOR_UNAVAILABLE' },
      context,
    );
  }

  /**
   * Asks the vendor once for the current route, and once for each route that follows at the same vendor. The recovery job gives a route of another
   * vendor to the workers of that vendor. Any process may repeat this at any point. Each attempt is one inquiry, even if it is started again, and only
   * its first outcome is recorded.
   */
  async advance({ incomeSessionId, context, loaded }: KnownSession, within: Within): Promise<void> {
    let known = loaded;
    for (;;) {
      const { state } = known;
      if (!isOpen(state)) break;
      const next = await this.step({ incomeSessionId, context, loaded: known }, state, within);
      const goesOn = isOpen(next.state) && next.state.route !== state.route && !changesVendor(state);
      known = next;
      if (!goesOn) break;
    }
    if (known.state.status !== 'NONE') await this.secrets.keepLess(incomeSessionId, known.state);
  }

  private async step(
    { incomeSessionId: id, context, loaded }: KnownSession,
    session: OpenIncomeSession,
    { signal, mayAsk }: Within,
  ): Promise<LoadedAggregate<IncomeState>> {
    const record = (command: IncomeCommand): Promise<LoadedAggregate<IncomeState>> =>
      this.aggregates.execute(incomeSession, { id, known: loaded }, command, context);
    const { attempt } = session;
    const now = this.clock.now();
    // An inquiry that has started is asked for its outcome one last time, even if the session's time limit has passed.
    if (!attempt || (!attempt.started && isOverdue(session, now))) return record({ kind: 'expire', now });
    const { attemptId, looks } = attempt;
    const { subjectId, route } = session;
    const vendor = vendorOf(session, route);
    const call = {
      ...vendorCall({ id, attemptId, subject: subjectId, context, vendor }),
      ...(signal && { signal }),
      ...(mayAsk && { mayAsk }),
    };
    const kept = await this.secrets.inquiry(subjectId, id);
    if (kept === 'erased') return record({ kind: 'end-erased' });
    if (!attempt.started || kept?.attemptId !== attemptId) return this.start(id, session, call, record);
    const outcome = await this.incomeVendor.outcomeOf(call, kept.inquiry);
    switch (outcome.kind) {
      case 'completed': {
        // The vault stores the report before the log records it. If the process dies in between, the next run finds the same outcome.
        const bodyDigest = await this.secrets.keepReport(subjectId, id, outcome.report);
        if (bodyDigest === 'erased') return record({ kind: 'end-erased' });
        return record({ kind: 'record-report', now: this.clock.now(), attemptId, bodyDigest });
      }
      case 'failed': {
        const later = this.clock.now();
        const next = this.nextAttempt(session, later);
        return record({ kind: 'record-failure', now: later, attemptId, reason: outcome.reason, next });
      }
      case 'needs-user':
        // The vault stores the opening before the log records the round, so that a page that sees the round can open the vendor.
        await this.secrets.keepInquiry(subjectId, id, { ...kept, open: outcome.open });
        return record({
          kind: 'record-user-action',
          now: this.clock.now(),
          attemptId,
          looks,
          until: new Date(outcome.until),
          patienceMs: this.policy.limits.sessionTtlSeconds * 1_000,
        });
      default:
        return record({
          kind: 'record-no-outcome',
          now: this.clock.now(),
          attemptId,
          looks,
          cause: causeOf(outcome),
          ...pauseOf(outcome),
        });
    }
  }

  /** The next route is due at once when it belongs to the workers of another vendor. */
  private nextAttempt(session: OpenIncomeSession, now: Date): NewAttempt {
    const attempt = this.policy.attempt(newId(), now);
    return changesVendor(session) ? { ...attempt, settleAfter: now } : attempt;
  }

  private async start(
    id: string,
    { route, screeningSessionId, subjectId, attempt }: OpenIncomeSession,
    call: VendorCall,
    record: (command: IncomeCommand) => Promise<LoadedAggregate<IncomeState>>,
  ): Promise<LoadedAggregate<IncomeState>> {
    const { attemptId } = call;
    const referring = route === 'BANKING' ? 'banking' : 'income';
    const reference = screeningSessionId && (await this.screenings.reference(screeningSessionId, referring));
    if (screeningSessionId && !reference) return record({ kind: 'end-erased' });
    const start = await this.incomeVendor.start(call, route, reference ? reference.subject : null);
    if (start.kind !== 'started') {
      const looks = attempt?.looks ?? 0;
      return record({ kind: 'record-no-outcome', now: this.clock.now(), attemptId, looks, cause: causeOf(start) });
    }
    if ((await this.secrets.keepInquiry(subjectId, id, { attemptId, inquiry: start.inquiry })) === 'erased')
      return record({ kind: 'end-erased' });
    return record({ kind: 'record-started', now: this.clock.now(), attemptId });
  }
}

function pauseOf(outcome: NoVerdict | Extract<IncomeOutcome, { kind: 'in-progress' }>): { readonly pauseMs?: number } {
  const seconds = outcome.kind === 'in-progress' ? outcome.lookAgainAfter : undefined;
  return seconds === undefined ? {} : { pauseMs: seconds * 1_000 };
}

function causeOf({ kind }: NoVerdict | Extract<IncomeOutcome, { kind: 'in-progress' }>): NoOutcomeCause {
  switch (kind) {
    case 'in-progress':
      return 'IN_PROGRESS';
    case 'unavailable':
      return 'VENDOR_UNAVAILABLE';
    case 'timed-out':
      return 'VENDOR_TIMED_OUT';
    case 'unintelligible':
      return 'VENDOR_UNINTELLIGIBLE';
    default:
      return kind satisfies never;
  }
}
