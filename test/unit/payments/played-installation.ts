// An installation in memory, with one account and one person. The deciders, use cases and event handlers of sessions,
// payments and reports are real, over one log. The processor and the bureau are fakes. A test can make processes die or
// interrupt each other.
import type { CallerContext } from '../../../src/kernel/context.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { categoryOf, type RecordedEvent } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import { foldState, type Projection } from '../../../src/kernel/projection.js';
import { FIRST_CHOICE } from '../../../src/kernel/vendor-choice.js';
import { AccountCredit } from '../../../src/modules/accounts/application/account-credit.js';
import {
  ConfirmPayment,
  ConfirmPaymentHandler,
  LookAtIntent,
} from '../../../src/modules/payments/application/confirm-payment.js';
import { CreateIntent, CreateIntentHandler } from '../../../src/modules/payments/application/create-intent.js';
import { TakeUpIntent } from '../../../src/modules/payments/application/take-up-intent.js';
import { PaymentInVain } from '../../../src/modules/payments/application/in-vain.js';
import { LookUpPayment, LookUpPaymentHandler } from '../../../src/modules/payments/application/look-up-payment.js';
import { PaymentPolicy } from '../../../src/modules/payments/application/payment-policy.js';
import { PaymentReconciler } from '../../../src/modules/payments/application/payment-reconciler.js';
import { PaymentSecrets } from '../../../src/modules/payments/application/payment-secrets.js';
import {
  RefundAsOperator,
  RefundAsOperatorHandler,
} from '../../../src/modules/payments/application/refund-as-operator.js';
import {
  MakeRefund,
  RefundPayment,
  RefundPaymentHandler,
} from '../../../src/modules/payments/application/refund-payment.js';
import { RequestRefund } from '../../../src/modules/payments/application/request-refund.js';
import { WhenPaymentProgressed } from '../../../src/modules/payments/application/when-payment-progressed.js';
import { WhenReportProgressed } from '../../../src/modules/payments/application/when-report-progressed.js';
import { WhenSessionInVain } from '../../../src/modules/payments/application/when-session-in-vain.js';
import { WhenVerifiedAgain } from '../../../src/modules/payments/application/when-verified-again.js';
import { EndPulls } from '../../../src/modules/reports/application/end-pulls.js';
import { OpenReport, OpenReportHandler } from '../../../src/modules/reports/application/open-report.js';
import { ReadPurposes } from '../../../src/modules/reports/application/read-purposes.js';
import { ReadRefusals } from '../../../src/modules/reports/application/read-refusals.js';
import { ReportAccess } from '../../../src/modules/reports/application/report-access.js';
import { ReportPolicy } from '../../../src/modules/reports/application/report-policy.js';
import { ReportPull } from '../../../src/modules/reports/application/report-pull.js';
import { ReportRelease } from '../../../src/modules/reports/application/report-release.js';
import { ReportViewer } from '../../../src/modules/reports/application/report-viewer.js';
import { SettleReport, SettleReportHandler } from '../../../src/modules/reports/application/settle-report.js';
import { WhenReportSettled } from '../../../src/modules/reports/application/when-report-settled.js';
import { ReportDirectory } from '../../../src/modules/reports/read/report-status.js';
import { PersonAnswers } from '../../../src/modules/screening/application/person-answers.js';
import { ScreeningDirectory } from '../../../src/modules/screening/application/screening-directory.js';
import type { ScreeningPolicy } from '../../../src/modules/screening/application/screening-policy.js';
import { SessionSecrets } from '../../../src/modules/screening/application/session-secrets.js';
import { screenedPerson } from '../../../src/modules/screening/domain/screened-person.js';
import { screeningSession } from '../../../src/modules/screening/domain/screening-session.js';
import { secretsEntry } from '../../../src/modules/screening/domain/session.js';
import type { RegistrationVerdict } from '../../../src/modules/screening/domain/verdicts.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../src/platform/aggregates/grouped-stream.js';
import { TestTraffic } from '../../../src/platform/aggregates/test-traffic.js';
import { type CreditBureau, type ReportVerdict, type VendorReport } from '../../../src/ports/credit-bureau.js';
import type { EventHandler } from '../../../src/ports/event-handler.js';
import {
  EventStore,
  type AppendOutcome,
  type ExpectedRevision,
  type NewEvent,
  type StreamAppend,
  type StreamReadOptions,
  type TogetherOutcome,
} from '../../../src/ports/event-store.js';
import type { Charge, IntentVerdict, PaymentIntent, RefundVerdict } from '../../../src/ports/payment-processor.js';
import { ReadModels, type View } from '../../../src/ports/read-models.js';
import { NotAuthentic, SubjectErased, type Vault } from '../../../src/ports/vault.js';
import { keepEntry } from '../../../src/ports/vault-entry.js';
import type { Vendors } from '../../../src/ports/vendors.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import type { Accounts } from '../../../src/published/accounts.js';
import type { SessionGrants } from '../../../src/published/session-grants.js';
import { SetClock } from '../../support/clock.js';
import { CallsAtOnce } from '../../support/external-calls.js';
import { type IntentsOnly } from '../../support/intents-only.js';
import { CountedInMemory } from '../../support/rate-limiter.js';

/** The failure of a call to a vendor. `isDone`: the vendor has carried out the call nevertheless. */
export interface Trouble {
  readonly kind: 'unavailable' | 'timed-out' | 'unintelligible' | 'not-made' | 'refused' | 'session-over';
  readonly isDone: boolean;
}

/**
 * The faults of one process. The effects of a process are counted from 0: appends, calls to vendors, and writes to the
 * vault.
 */
export interface Fate {
  /** The process dies at this effect, before or immediately after it. */
  readonly dies: { readonly at: number; readonly isDone: boolean } | null;
  /** Another process acts immediately before this effect. */
  readonly meanwhile: { readonly at: number; readonly act: (other: PlayedProcess) => Promise<void> } | null;
  /** The failures of the first calls, in order. */
  readonly troubles: readonly (Trouble | null)[];
}
export const UNTROUBLED: Fate = { dies: null, meanwhile: null, troubles: [] };

class ProcessDied extends Error {}

/** An append of a dead process stores nothing. */
class LogInMemory extends EventStore {
  readonly all: RecordedEvent[] = [];
  private readonly streams = new Map<string, RecordedEvent[]>();

  override async append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<AppendOutcome> {
    const before = this.streams.get(stream) ?? [];
    const current = before.length === 0 ? 'no-stream' : before.length - 1;
    if (current !== expected) return { outcome: 'conflict', current };
    const recorded = events.map((event, index) => ({
      ...event,
      stream,
      revision: before.length + index,
      position: String(this.all.length + index).padStart(8, '0'),
    })) as unknown as RecordedEvent[];
    this.streams.set(stream, [...before, ...recorded]);
    this.all.push(...recorded);
    return { outcome: 'appended', revision: before.length + recorded.length - 1 };
  }

  override async appendTogether(appends: readonly StreamAppend[]): Promise<TogetherOutcome> {
    const revisions: number[] = [];
    for (const [index, { stream, expected, events }] of appends.entries()) {
      const appended = await this.append(stream, expected, events);
      if (appended.outcome === 'conflict') return { ...appended, index, stored: index };
      revisions.push(appended.revision);
    }
    return { outcome: 'appended', revisions };
  }

  override async readStream(
    stream: string,
    { from, limit, direction }: StreamReadOptions = {},
  ): Promise<RecordedEvent[]> {
    const events = this.streams.get(stream) ?? [];
    if (direction === 'backwards')
      return events
        .slice(0, (from ?? events.length) + 1)
        .reverse()
        .slice(0, limit);
    return events.slice(from ?? 0).slice(0, limit);
  }

  override readAll(): never {
    throw new Error('Event handlers are given the events one by one');
  }
  override head(): never {
    throw new Error('Event handlers are given the events one by one');
  }
  override subscribe(): never {
    throw new Error('Event handlers are given the events one by one');
  }
  override async ping(): Promise<void> {}
  override async close(): Promise<void> {}

  ids(category: string): string[] {
    return [...this.streams.keys()]
      .filter((stream) => categoryOf(stream) === category)
      .map((stream) => stream.slice(category.length + 1));
  }
}

/** Folds a document when it is read. The real read models do the same for a missing document. */
class FoldedReadModels extends ReadModels {
  constructor(private readonly log: EventStore) {
    super();
  }

  override async get<Doc extends object>(
    { category, ...projection }: Projection<Doc, unknown>,
    id: string,
  ): Promise<View<Doc> | null> {
    const history = await this.log.readStream(`${category}-${id}`);
    const state = foldState({ evolve: projection.evolve.bind(projection) }, history);
    return state === null ? null : { id, revision: history.length - 1, doc: projection.view(state) };
  }
  override list(): never {
    throw new Error('Nothing is listed here');
  }
  override due(): never {
    return this.list();
  }
  override idsIn(): never {
    return this.list();
  }
  override async applyNow(): Promise<void> {}
}

/** The records of the processor. An intent can be paid only when its secret was given to a browser. */
export class ProcessorsBooks {
  readonly intents = new Map<string, PaymentIntent>();
  readonly answers = new Map<string, IntentVerdict | RefundVerdict>();

  change(id: string, change: Partial<PaymentIntent>): void {
    const intent = this.intents.get(id);
    if (intent) this.intents.set(id, { ...intent, ...change });
  }
}

/** One process of the service. Each action runs in a new process. */
export class PlayedProcess {
  private effects = 0;
  private calls = 0;
  private isDead = false;
  readonly store: EventStore;
  readonly vault: Vault;
  readonly aggregates: AggregateStore;
  readonly screenings: ScreeningDirectory;
  readonly handlers: readonly EventHandler[];
  readonly createIntent: CreateIntentHandler;
  readonly confirm: ConfirmPaymentHandler;
  readonly lookUp: LookUpPaymentHandler;
  readonly refund: RefundPaymentHandler;
  readonly refundAsOperator: RefundAsOperatorHandler;
  readonly openReport: OpenReportHandler;
  readonly settleReport: SettleReportHandler;

  constructor(
    private readonly harness: PlayedInstallation,
    private readonly fate: Fate,
  ) {
    const { clock, log, accounts } = harness;
    this.store = this.mortalStore(log);
    this.vault = this.mortalVault(harness);
    const inline = { handleInline: (events: readonly RecordedEvent[]) => this.handleInline(events) };
    this.aggregates = new AggregateStore(
      this.store,
      { applyNow: async () => undefined },
      clock,
      { appendConflict: () => undefined },
      new TestTraffic(),
      inline,
    );
    const { aggregates, vault } = this;
    const streams = new GroupedStream(this.store, clock, { appendConflict: () => undefined });
    const calls = new CallsAtOnce();
    const limiter = new CountedInMemory();
    const secrets = new SessionSecrets(vault, {} as Vendors);
    const answers = new PersonAnswers(aggregates, secrets, {} as ScreeningPolicy, clock, {
      wrongAnswer: () => undefined,
    });
    const reports = new ReportDirectory(new FoldedReadModels(this.store));
    this.screenings = new ScreeningDirectory(aggregates, vault, reports, answers, clock);
    const { screenings } = this;

    const credit = new AccountCredit(streams, accounts);
    const access = new ReportAccess(aggregates, screenings, accounts, limiter, REPORT_POLICY, clock);
    const pull = new ReportPull(
      aggregates,
      screenings,
      this.playedBureau(),
      {} as Vendors,
      vault,
      credit,
      REPORT_POLICY,
      clock,
    );
    const release = new ReportRelease(aggregates, calls, pull, credit, REPORT_POLICY, clock);
    const viewer = new ReportViewer(aggregates, streams, vault, screenings, accounts, clock);
    const refusals = new ReadRefusals(streams, screenings, limiter);
    const purposes = new ReadPurposes(accounts, {} as SessionGrants, screenings, clock);
    this.openReport = new OpenReportHandler(access, purposes, release, viewer, refusals, clock);
    this.settleReport = new SettleReportHandler(aggregates, pull, clock);

    const processor = this.playedProcessor();
    const kept = new PaymentSecrets(vault);
    const pulls = new EndPulls(aggregates);
    const reconciler = new PaymentReconciler(aggregates, processor, kept, screenings, {
      altered: () => undefined,
      refundReversed: () => undefined,
    });
    const takeUp = new TakeUpIntent(aggregates, processor, reconciler, kept);
    const look = new LookAtIntent(aggregates, reconciler);
    const makeRefund = new MakeRefund(aggregates, processor, reconciler);
    const request = new RequestRefund(aggregates, screenings, pulls, accounts);
    const progressed = new WhenPaymentProgressed(aggregates, screenings);
    const grants = { find: async () => null } as unknown as SessionGrants;
    const payments = new PaymentPolicy({ intentsPerMinute: 0, confirmsPerMinute: 0 });
    this.createIntent = new CreateIntentHandler(
      aggregates,
      calls,
      takeUp,
      kept,
      screenings,
      accounts,
      grants,
      limiter,
      payments,
    );
    this.confirm = new ConfirmPaymentHandler(aggregates, calls, look, screenings, progressed, limiter, payments);
    this.lookUp = new LookUpPaymentHandler(aggregates, reconciler, request, makeRefund, clock);
    this.refund = new RefundPaymentHandler(aggregates, calls, makeRefund, request, progressed);
    this.refundAsOperator = new RefundAsOperatorHandler(aggregates, request);
    const inVain = new PaymentInVain(screenings, reports);
    this.handlers = [
      progressed,
      new WhenVerifiedAgain(aggregates, screenings, pulls),
      new WhenReportProgressed(aggregates, this.store, screenings, request, inVain),
      new WhenSessionInVain(aggregates, screenings, inVain),
      new WhenReportSettled(credit),
    ];
  }

  /** Runs inline handlers after an append, like the event processor. The subscription repeats a failed event. */
  private async handleInline(events: readonly RecordedEvent[]): Promise<void> {
    for (const event of events)
      for (const handler of this.handlers)
        if (handler.inline && follows(handler, event)) await handler.handle(event).catch(noteUnexpected);
  }

  private async effect<Value>(act: () => Promise<Value>): Promise<Value> {
    this.refuseDead();
    const { dies, meanwhile } = this.fate;
    const place = this.effects++;
    if (meanwhile?.at === place) await meanwhile.act(new PlayedProcess(this.harness, UNTROUBLED)).catch(noteUnexpected);
    if (dies?.at !== place) return act();
    this.isDead = true;
    if (dies.isDone) await act();
    throw new ProcessDied();
  }

  private refuseDead(): void {
    if (this.isDead) throw new ProcessDied();
  }

  private mortalStore(log: LogInMemory): EventStore {
    return Object.assign(Object.create(log) as EventStore, {
      readStream: async (...given: Parameters<EventStore['readStream']>) => {
        this.refuseDead();
        return log.readStream(...given);
      },
      append: (...given: Parameters<EventStore['append']>) => this.effect(() => log.append(...given)),
      appendTogether: (...given: Parameters<EventStore['appendTogether']>) =>
        this.effect(() => log.appendTogether(...given)),
    });
  }

  private mortalVault({ kept, erased }: PlayedInstallation): Vault {
    const refuseErased = (subject: string): void => {
      if (erased.has(subject)) throw new SubjectErased();
    };
    return {
      put: (subject: string, entry: string, value: Uint8Array) =>
        this.effect(async () => {
          refuseErased(subject);
          kept.set(`${subject} ${entry}`, value);
        }),
      get: async (subject: string, entry: string) => {
        this.refuseDead();
        refuseErased(subject);
        const value = kept.get(`${subject} ${entry}`) ?? null;
        if (value === 'unopenable') throw new NotAuthentic('It cannot be opened');
        return value;
      },
      remove: (subject: string, entry: string) => this.effect(async () => void kept.delete(`${subject} ${entry}`)),
    } as unknown as Vault;
  }

  /** Null if the call succeeds. */
  private nextTrouble(): Trouble | null {
    return this.fate.troubles[this.calls++] ?? null;
  }

  private playedBureau(): CreditBureau {
    return {
      pullReport: ({ attemptId }: VendorCall): Promise<ReportVerdict> =>
        this.effect(async () => {
          const trouble = this.nextTrouble();
          const { isFrozen, pulled } = this.harness.bureau;
          if (trouble === null || trouble.isDone) {
            if (isFrozen) return { kind: 'refused', reason: 'FILE_FROZEN', upstreamCode: 9132 };
            pulled.add(attemptId);
          }
          if (trouble === null) return { kind: 'report', score: null, report: {} as VendorReport };
          const { kind } = trouble;
          return { kind: kind === 'not-made' || kind === 'refused' ? 'unavailable' : kind };
        }),
    } as CreditBureau;
  }

  private playedProcessor(): IntentsOnly {
    const { intents, answers } = this.harness.processor;
    const books = this.harness.processor;
    /** `make` does the work and returns the answer. The processor keeps the answer under its key. */
    const keyed = <Verdict extends IntentVerdict | RefundVerdict>(
      { attemptId: key }: VendorCall,
      make: () => Verdict,
    ): Promise<Verdict> =>
      this.effect(async () => {
        const known = answers.get(key);
        if (known !== undefined) return known as Verdict;
        const trouble = this.nextTrouble();
        if (trouble === null) {
          const verdict = make();
          answers.set(key, verdict);
          return verdict;
        }
        const { isDone } = trouble;
        const kind = trouble.kind === 'session-over' ? 'unavailable' : trouble.kind;
        const made = isDone && kind !== 'unavailable' && kind !== 'refused' ? make() : null;
        const verdict = (kind === 'refused' ? { kind, code: 'resource_missing' } : { kind }) as Verdict;
        // When the connection fails, the processor keeps the answer to the work. The processor also keeps a refusal and
        // a failure.
        if (kind === 'not-made' || kind === 'refused') answers.set(key, verdict);
        else if (made !== null) answers.set(key, made);
        return verdict;
      });
    const of = (id: string): IntentVerdict => {
      const intent = intents.get(id);
      return intent === undefined ? { kind: 'not-found' } : { kind: 'intent', intent };
    };
    return {
      createIntent: (
        call: VendorCall,
        { amountCents, currency }: Charge,
        { transactionId }: { transactionId: string },
      ) =>
        keyed(call, () => {
          const id = `pi_${intents.size}`;
          intents.set(id, {
            id,
            status: 'requires_payment_method',
            amountCents,
            receivedCents: 0,
            refundedCents: 0,
            currency,
            lastErrorCode: null,
            transactionId,
            clientSecret: `${id}_secret`,
          });
          return of(id);
        }),
      changeIntent: (call: VendorCall, id: string, { amountCents }: Charge) =>
        keyed(call, () => {
          if (!intents.get(id)?.status.startsWith('requires'))
            return { kind: 'refused', code: 'payment_intent_unexpected_state' };
          books.change(id, { amountCents });
          return of(id);
        }),
      retrieveIntent: (_call: VendorCall, id: string) =>
        this.effect(async () => {
          const trouble = this.nextTrouble();
          if (trouble === null) return of(id);
          return {
            kind: trouble.kind === 'unintelligible' || trouble.kind === 'timed-out' ? trouble.kind : 'unavailable',
          };
        }),
      refundIntent: (call: VendorCall, id: string) =>
        keyed<RefundVerdict>(call, () => {
          const intent = intents.get(id);
          if (intent?.status !== 'succeeded') return { kind: 'refused', code: 'not_paid' };
          if (intent.refundedCents === intent.receivedCents)
            return { kind: 'refused', code: 'charge_already_refunded' };
          books.change(id, { refundedCents: intent.receivedCents });
          return { kind: 'refunded' };
        }),
    } as unknown as IntentsOnly;
  }
}

const REPORT_POLICY = new ReportPolicy(
  {
    reportValiditySeconds: 30 * 86_400,
    shareWindowSeconds: null,
    vendorTimeoutSeconds: 0,
    retryIntervalSeconds: 600,
    pdfLinkSeconds: 300,
    readsPerMinute: 0,
    sharesPerMinute: 0,
    pdfsPerMinute: 0,
    servedPagesOnly: false,
  },
  'https://service.example.test',
);
const PERSON = newId();
const VERDICT_POLICY = { attemptsAllowed: 3, stepUpTtlSeconds: 1_800, lockSeconds: 86_400, reviewSeconds: 604_800 };

function follows({ categories, types }: EventHandler, { type, stream }: RecordedEvent): boolean {
  return types.has(type) && categories.includes(categoryOf(stream));
}

/** Domain errors, deaths and errors of the processor are expected. Any other error is a bug. */
function noteUnexpected(error: unknown): void {
  const mayBe =
    error instanceof DomainError ||
    error instanceof ProcessDied ||
    (error instanceof Error && error.message.startsWith('The payment processor'));
  if (!mayBe) throw error;
}

export class PlayedInstallation {
  readonly clock = new SetClock();
  readonly log = new LogInMemory();
  readonly kept = new Map<string, Uint8Array | 'unopenable'>();
  readonly processor = new ProcessorsBooks();
  readonly bureau = { isFrozen: false, pulled: new Set<string>() };
  readonly accounts: Accounts;
  readonly erased = new Set<string>();
  /** The entries are sorted with the oldest first. */
  readonly sessions: string[] = [];
  /** The transactions whose secrets were given to a browser, with their intents. */
  readonly handedOut = new Map<string, string>();
  private readonly context: CallerContext;
  /** The number of events that each handler has handled. */
  private readonly places = new Map<string, number>();

  constructor(refundAfterDays: number | null) {
    const accountId = newId();
    this.context = {
      accountId,
      environment: 'test',
      actor: { kind: 'secret-key', id: 'key' },
      correlationId: 'request',
      causationId: 'request',
    };
    const account = {
      accountId,
      feeCents: 50,
      currency: 'usd',
      connectedPaymentAccount: 'acct_1',
      vendors: {},
      prepaidBilling: false,
      applicationFeeCents: null,
      maxApplicationFeeCents: null,
      refundAfterDays,
    };
    this.accounts = { find: async () => account, mayReachVendors: () => true } as unknown as Accounts;
  }

  /** The subject of the person since the last erasure. */
  private get subject(): string {
    return `subject ${this.erased.size}`;
  }

  /** Runs the action in a process with these faults. */
  async run(act: (process: PlayedProcess) => Promise<unknown>, fate: Fate = UNTROUBLED): Promise<void> {
    this.clock.pass(1);
    await act(new PlayedProcess(this, fate)).catch(noteUnexpected);
  }

  async submit({ aggregates }: PlayedProcess, sessionId: string): Promise<void> {
    this.sessions.push(sessionId);
    await aggregates.execute(
      screenedPerson,
      PERSON,
      { kind: 'open', personId: PERSON, sessionId, salt: '' },
      this.context,
    );
    const now = this.clock.now();
    const times = { now, attemptId: `registration-${sessionId}`, settleAfter: now, giveUpAfter: now };
    const person = { subjectId: this.subject, personId: PERSON, registeredAs: 'name', vendors: FIRST_CHOICE };
    const command = { kind: 'submit', ...times, ...person, userType: 'CONSUMER', paymentRequired: true } as const;
    await aggregates.execute(screeningSession, sessionId, command, this.context);
  }

  /** `isKnown`: the bureau knows the person by the vendor's token. */
  async judge(
    { aggregates, vault }: PlayedProcess,
    sessionId: string,
    verdict: RegistrationVerdict,
    isKnown: boolean,
  ): Promise<void> {
    if (verdict.kind === 'confirmed')
      await keepEntry(vault, this.subject, secretsEntry(sessionId), {
        vendorSession: 'token',
        references: isKnown ? { credit: 'token' } : {},
        questions: null,
      });
    const attemptId = `registration-${sessionId}`;
    const command = {
      kind: 'record-registration',
      now: this.clock.now(),
      attemptId,
      verdict,
      policy: VERDICT_POLICY,
    } as const;
    await aggregates.execute(screeningSession, sessionId, command, this.context);
  }

  async createIntent({ createIntent }: PlayedProcess, sessionId: string, amountCents: number): Promise<string> {
    const wish = { amountCents, applicationFeeCents: null };
    const { transactionId, clientSecret } = await createIntent.execute(new CreateIntent(sessionId, wish, this.context));
    this.handedOut.set(transactionId, clientSecret.replace('_secret', ''));
    return transactionId;
  }

  async confirm({ confirm }: PlayedProcess, transactionId: string): Promise<void> {
    await confirm.execute(new ConfirmPayment(transactionId, this.context));
  }

  async read({ openReport }: PlayedProcess, sessionId: string): Promise<void> {
    await openReport.execute(new OpenReport(sessionId, 'json', this.context));
  }

  async refund({ refund }: PlayedProcess, transactionId: string): Promise<void> {
    await refund.execute(new RefundPayment(transactionId, 'requested_by_consumer', this.context));
  }

  async refundAsOperator({ refundAsOperator }: PlayedProcess, transactionId: string): Promise<void> {
    const refund = { reasonCode: 'other', evenIfReleased: true } as const;
    await refundAsOperator.execute(new RefundAsOperator(transactionId, refund, this.context));
  }

  /** Removes the reference with which the bureau finds the session's person, or makes it unreadable. */
  loseReference(sessionId: string, how: 'gone' | 'unopenable'): void {
    const entry = `${this.subject} ${secretsEntry(sessionId)}`;
    if (how === 'gone') this.kept.delete(entry);
    else if (this.kept.has(entry)) this.kept.set(entry, how);
  }

  /** Erases the person, who returns under another subject. */
  async erase({ aggregates }: PlayedProcess): Promise<void> {
    const subjectId = this.subject;
    this.erased.add(subjectId);
    for (const sessionId of this.sessions)
      await aggregates.execute(screeningSession, sessionId, { kind: 'end-erased', subjectId }, this.context);
  }

  /**
   * The event handler continues from its checkpoint until it fails. `again` is the number of earlier events that it
   * repeats.
   */
  async follow({ handlers }: PlayedProcess, name: string, again = 0): Promise<void> {
    const handler = handlers.find((one) => one.name === name);
    if (handler === undefined) throw new Error(`There is no handler ${name}`);
    let place = Math.max(0, (this.places.get(name) ?? 0) - again);
    for (let event = this.log.all[place]; event !== undefined; event = this.log.all[place]) {
      if (follows(handler, event)) await handler.handle(event);
      place += 1;
      this.places.set(name, Math.max(place, this.places.get(name) ?? 0));
    }
  }

  /** Runs every recovery job once. */
  async recover({ lookUp, settleReport }: PlayedProcess): Promise<void> {
    const { signal } = new AbortController();
    for (const id of this.log.ids('payment')) await lookUp.execute(new LookUpPayment(id, signal));
    for (const id of this.log.ids('report')) await settleReport.execute(new SettleReport(id, signal));
  }

  /** Follows the log and recovers interrupted work while this time passes. */
  async settle(...seconds: readonly number[]): Promise<void> {
    for (const pause of seconds) {
      this.clock.pass(pause);
      await this.run(async (process) => {
        await this.recover(process);
        for (const { name } of process.handlers) await this.follow(process, name);
      });
    }
  }

  /** The log with short names instead of ids, for a person who examines a failure. */
  story(): string {
    const names = new Map(this.sessions.map((id, index) => [id, `<session ${index}>`]));
    const named = (id: string): string => {
      const name = names.get(id) ?? `<${names.size}>`;
      names.set(id, name);
      return name;
    };
    const lines = this.log.all.map(({ stream, type, data }) => `${stream} ${type} ${JSON.stringify(data)}`);
    return lines.join('\n').replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, named);
  }
}
