// Runs event handlers. Each follows the log from its own checkpoint, in one process at a time.
import { setMaxListeners } from 'node:events';
import { categoryOf, type RecordedEvent } from '../../kernel/domain-event.js';
import { newId } from '../../kernel/ids.js';
import { untilNextRound } from '../../kernel/rounds.js';
import { type EventBatch, type EventStore, isOfOtherStore, isPositionUpTo } from '../../ports/event-store.js';
import type { HandlerCheckpoints } from '../../ports/handler-checkpoints.js';
import type { EventHandler } from '../../ports/event-handler.js';
import {
  delay,
  SubscriptionSupervisor,
  type Subscription,
  type SubscriptionObserver,
  type SubscriptionStart,
} from './subscription-supervisor.js';

export interface EventProcessorStatus {
  readonly handler: string;
  /** False while another process runs the handler. */
  readonly active: boolean;
  readonly lagMs: number;
}

export interface EventProcessorObserver extends SubscriptionObserver {
  /** Alarm: the handler's checkpoint is beyond the end of the log, so the log is another log or lost events. The handler begins again. */
  foreign(handler: string): Promise<void> | void;
}

const LEASE_MS = 6_000;
const RENEW_EVERY_MS = 2_000;
/** The shortest time between two saves of a handler's checkpoint. */
const SAVE_EVERY_MS = 1_000;

/** The lease was given to another process during the work of this process. */
class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * A handler's checkpoint is saved after its effects, so the handler receives some events again after its process died. A handler that fails keeps its
 * checkpoint and tries again at growing intervals. The lag of such a handler grows and raises the alarm.
 */
export class EventProcessor {
  private readonly runners: Runner[] = [];
  private readonly stopping = new AbortController();
  private running: Promise<unknown> | null = null;

  constructor(
    private readonly store: EventStore,
    private readonly checkpoints: HandlerCheckpoints,
    private readonly observer: EventProcessorObserver,
    private readonly renewEveryMs = RENEW_EVERY_MS,
  ) {}

  /** Call this once for each name, before `start`. */
  on(handler: EventHandler): void {
    if (this.runners.some(({ name }) => name === handler.name))
      throw new Error(`Two event handlers have the name ${handler.name}`);
    this.runners.push(new Runner(handler, this.store, this.checkpoints, this.observer, this.renewEveryMs));
  }

  /** Runs the inline handlers on new events. Never throws: the subscription repeats events that failed here. */
  async handleInline(events: readonly RecordedEvent[]): Promise<void> {
    for (const event of events)
      for (const runner of this.runners) if (runner.handlesInline(event)) await runner.handleInline(event);
  }

  /** Reports and forgets checkpoints beyond the end of the log. The caller must await this call before anything else begins. */
  async forgetForeignPlaces(): Promise<void> {
    for (const runner of this.runners) await runner.forgetForeignPlace();
  }

  start(): void {
    // Every handler listens to this signal. Many listeners are not a leak here.
    setMaxListeners(0, this.stopping.signal);
    this.running = Promise.all(this.runners.map((runner) => runner.run(this.stopping.signal)));
  }

  /** Finishes the events that are being handled. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  status(): EventProcessorStatus[] {
    return this.runners.map(({ name, active, lagMs }) => ({ handler: name, active, lagMs }));
  }
}

class Runner implements Subscription {
  readonly name: string;
  active = false;
  private readonly holder = newId();
  /** The handler's position in the log, until it is saved. */
  private passed: string | null = null;
  private savedAt = Number.NEGATIVE_INFINITY;
  private readonly supervisor: SubscriptionSupervisor;

  constructor(
    private readonly handler: EventHandler,
    private readonly store: EventStore,
    private readonly checkpoints: HandlerCheckpoints,
    private readonly observer: EventProcessorObserver,
    private readonly renewEveryMs: number,
  ) {
    this.name = handler.name;
    this.supervisor = new SubscriptionSupervisor(store, this, observer, { batchSize: 100 });
  }

  get lagMs(): number {
    return this.active ? this.supervisor.lagMs : 0;
  }

  async run(signal: AbortSignal): Promise<void> {
    const following = this.supervisor.run(signal);
    while (!signal.aborted) {
      await delay(untilNextRound(this.renewEveryMs), signal);
      if (signal.aborted) break;
      await this.renew().catch((error: unknown) => this.observer.dropped(this.name, error, this.renewEveryMs));
    }
    await following;
    if (this.passed !== null) await this.save(this.passed).catch(() => undefined);
    await this.checkpoints.release(this.name, this.holder).catch(() => undefined);
  }

  async open(): Promise<SubscriptionStart | null> {
    if (this.passed !== null) await this.save(this.passed);
    this.active = await this.take();
    if (!this.active) return null;
    const after = await this.checkpoints.passed(this.name);
    return { after: (await this.isForeign(after)) ? null : after, categories: this.handler.categories };
  }

  async forgetForeignPlace(): Promise<void> {
    if (!(await this.take())) return;
    if (await this.isForeign(await this.checkpoints.passed(this.name)))
      await this.checkpoints.forget(this.name, this.holder);
    await this.checkpoints.release(this.name, this.holder);
  }

  /** A position that is not in this log belongs to another log. */
  private async isForeign(after: string | null): Promise<boolean> {
    const head = await this.store.head();
    if (after === null || isPositionUpTo(head, after)) return false;
    if (!isOfOtherStore(head, after)) await this.observer.foreign(this.name);
    return true;
  }

  handlesInline({ type, stream }: RecordedEvent): boolean {
    const { inline = false, categories, types } = this.handler;
    return inline && types.has(type) && categories.includes(categoryOf(stream));
  }

  async handleInline(event: RecordedEvent): Promise<void> {
    await this.handler.handle(event).catch((error: unknown) => this.observer.dropped(this.name, error, 0));
  }

  async handle({ events, through }: EventBatch): Promise<void> {
    const waiting = events.filter(({ type }) => this.handler.types.has(type));
    for (const [event, ...later] of this.handler.together ? [waiting] : waiting.map((one) => [one])) {
      if (!this.active) throw new LeaseLost(`${this.name} is run by another process now`);
      if (event) await this.handler.handle(event, ...later);
    }
    if (performance.now() - this.savedAt < SAVE_EVERY_MS) this.passed = through;
    else if (through !== null && !(await this.save(through)))
      throw new LeaseLost(`${this.name} is run by another process now`);
  }

  /** Also renews the lease. False if another process has the lease. */
  private async save(through: string): Promise<boolean> {
    this.passed = null;
    this.savedAt = performance.now();
    this.active = await this.checkpoints.save(this.name, this.holder, through, LEASE_MS);
    return this.active;
  }

  /** Renews the lease while the log has no new events, and takes over from a dead process. */
  private async renew(): Promise<void> {
    if (this.passed !== null && !(await this.save(this.passed))) return this.supervisor.restart();
    const taken = await this.take();
    if (taken === this.active) return;
    this.active = false;
    this.supervisor.restart();
  }

  private take(): Promise<boolean> {
    return this.checkpoints.take(this.name, this.holder, LEASE_MS);
  }
}
