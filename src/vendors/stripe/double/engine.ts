// Executes the callers' requests, once for each idempotency key, and the events that follow by themselves as time passes.
import { expireSession } from './checkout-sessions.js';
import { ProcessorError, missing } from './errors.js';
import type { EventDelivery } from './event-delivery.js';
import { type IntentChange, cancelIntent, declineError, newId, settleIntent } from './intents.js';
import { eventObject, intentObject, sessionObject } from './objects.js';
import type { Answer, Changes, Operation, ProcessorRecord, StoredEvent } from './record.js';
import type { CheckoutSession, Intent } from './state.js';
import type { Timers } from './timers.js';

export interface Call {
  readonly operation: Operation;
  readonly key: string | null;
  /** The content that two calls with one key must have in common. */
  readonly content: readonly string[];
  /** Reads the parameters. An error is answered and not recorded, so the key stays unused. */
  readonly prepare: () => () => Execution;
}

export interface Execution {
  readonly answer: Answer;
  readonly changes: Changes;
}

/** Null means that the call is executed, and that its answer is lost. */
export type Outcome = { readonly answer: Answer; readonly replayed: boolean } | null;

export interface Faults {
  /** Milliseconds since 1970. */
  outageEnds: number;
  answersToLose: number;
  /** The number of calls that fail with an answer that is kept under their keys. */
  failuresToKeep: number;
  /** The number of refunds that are refused because the balance is too low. Each refusal is the outcome of its call. */
  refundsToRefuse: number;
  /** The delay before each new call is executed. */
  slowMs: number;
}

export class Engine {
  readonly faults: Faults = { outageEnds: 0, answersToLose: 0, failuresToKeep: 0, refundsToRefuse: 0, slowMs: 0 };

  constructor(
    readonly record: ProcessorRecord,
    readonly delivery: EventDelivery,
    private readonly timers: Timers,
    readonly now: () => number,
    /** The time that a bank payment takes. */
    readonly settleMs: number,
  ) {}

  /** Continues the work of an earlier process. */
  resume(): void {
    for (const intent of this.record.allIntents()) this.settleLater(intent);
    for (const session of this.record.allSessions()) this.expireLater(session);
    this.delivery.resume();
  }

  async run(call: Call): Promise<Outcome> {
    const { record } = this;
    if (call.key !== null) record.receive(call.key, call.operation);
    if (this.now() < this.faults.outageEnds) {
      await record.kept();
      throw new ProcessorError(503, { type: 'api_error', message: 'The service is down; nothing was executed.' });
    }
    const digest = record.digestOf(call.operation, ...call.content);
    const past = call.key === null ? ({ state: 'unknown' } as const) : record.call(call.key);
    if (past.state === 'executed') {
      await record.kept();
      if (past.digest === digest) return { answer: past.answer, replayed: true };
      throw new ProcessorError(400, {
        type: 'idempotency_error',
        message: 'Keys for idempotent requests can only be used with the same parameters they were first used with.',
      });
    }
    if (past.state === 'in-progress') {
      await record.kept();
      const message = 'There is currently another in-progress request using this idempotent key.';
      throw new ProcessorError(409, { type: 'idempotency_error', code: 'idempotency_key_in_use', message });
    }
    const execute = call.prepare();
    await this.wait(call.key);
    const fails = this.faults.failuresToKeep > 0;
    if (fails) this.faults.failuresToKeep -= 1;
    const { answer, changes } = fails ? FAILED : executed(execute);
    record.finish(call.key, { operation: call.operation, digest, answer }, changes);
    await this.published(changes);
    if (this.faults.answersToLose > 0) {
      this.faults.answersToLose -= 1;
      return null;
    }
    return { answer, replayed: false };
  }

  /** Applies changes that no call caused: those of a page, or of time. */
  async happen(changes: Changes): Promise<void> {
    this.record.change(changes);
    await this.published(changes);
  }

  intent(id: string): Intent {
    return this.record.intent(id) ?? absent('payment_intent', 'intent');
  }

  session(id: string): CheckoutSession {
    return this.record.session(id) ?? absent('checkout.session', 'session');
  }

  intentChanges(
    { intent, happened }: IntentChange,
    key: string | null,
  ): Changes & { readonly events: readonly StoredEvent[] } {
    return {
      intents: [intent],
      events: happened.map((type) => this.event(type, intentObject(intent), intent.id, key)),
    };
  }

  /** A decline is an error for the caller, and also changes the intent. */
  executionOf(change: IntentChange, body: (intent: Intent) => object, key: string | null): Execution {
    const changes = this.intentChanges(change, key);
    if (change.decline === undefined) return { answer: { status: 200, body: body(change.intent) }, changes };
    const { status, error } = declineError(change.decline, body(change.intent));
    return { answer: { status, body: { error } }, changes };
  }

  expiryOf(session: CheckoutSession, key: string | null): Changes & { readonly session: CheckoutSession } {
    const expired = expireSession(session);
    const event = this.event('checkout.session.expired', sessionObject(expired), session.intentId, key);
    const intent = session.intentId === null ? null : this.intent(session.intentId);
    const canceled =
      intent === null || ['canceled', 'processing', 'succeeded'].includes(intent.status)
        ? null
        : this.intentChanges(cancelIntent(intent, this.now()), key);
    return {
      session: expired,
      sessions: [expired],
      intents: canceled?.intents ?? [],
      events: [...(canceled?.events ?? []), event],
    };
  }

  event(type: string, object: object, intentId: string | null, key: string | null): StoredEvent {
    const event = { id: newId('evt'), type, created: this.now(), key };
    return { id: event.id, type, intentId, created: event.created, body: JSON.stringify(eventObject(event, object)) };
  }

  /** Sends events only when the journal has them. */
  private async published({ intents = [], sessions = [], events = [] }: Changes): Promise<void> {
    await this.record.kept();
    for (const intent of intents) this.settleLater(intent);
    for (const session of sessions) this.expireLater(session);
    this.delivery.add(events);
  }

  private settleLater({ id, settlesAt }: Intent): void {
    if (settlesAt === null) return;
    this.timers.after(settlesAt - this.now(), () => {
      const change = settleIntent(this.intent(id), this.now());
      if (change !== null) void this.happen(this.intentChanges(change, null));
    });
  }

  private expireLater(session: CheckoutSession): void {
    if (session.status !== 'open') return;
    this.timers.after(session.expiresAt - this.now(), () => {
      const current = this.session(session.id);
      if (current.status === 'open') void this.happen(this.expiryOf(current, null));
    });
  }

  private async wait(key: string | null): Promise<void> {
    if (this.faults.slowMs === 0) return;
    if (key !== null) this.record.begin(key);
    await this.record.kept();
    await new Promise<void>((resolve) => this.timers.after(this.faults.slowMs, resolve));
  }
}

const FAILED: Execution = {
  answer: { status: 500, body: { error: { type: 'api_error', message: 'Something went wrong.' } } },
  changes: {},
};

/** A refusal here comes from executing the call, so it is the call's outcome. */
function executed(execute: () => Execution): Execution {
  try {
    return execute();
  } catch (error) {
    if (!(error instanceof ProcessorError)) throw error;
    return { answer: { status: error.status, body: { error: error.error } }, changes: {} };
  }
}

function absent(what: string, param: string): never {
  throw missing(what, param);
}
