// Sends the processor's events to the service, signed, in the background, until the service accepts each of them.
import { createHmac } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { limited } from '../../../kernel/with-timeout.js';
import type { ProcessorRecord, StoredEvent } from './record.js';
import type { Timers } from './timers.js';

export interface EventReceiver {
  readonly url: string;
  readonly secret: string;
}

/** Instructions of tests. */
export interface DeliveryPlan {
  /** The number of times that every event is sent; usually 1. */
  readonly copies: number;
  /** The wait before the first attempt. */
  readonly delayMs: number;
  /** The number of events that are never sent. */
  readonly drop: number;
  /** The number of events that are held back and then sent in reverse order, one at a time. */
  readonly hold: number;
}

/** The progress of one event. `lastStatus` is null before the first answer. */
export interface DeliveryState {
  readonly attempts: number;
  readonly lastStatus: number | null;
}

const RETRY_AFTER_MS = [500, 1_000, 2_000, 5_000, 10_000, 30_000];
const LAST_RETRY_AFTER_MS = 60_000;
const ATTEMPT_MS = 5_000;
const AT_ONCE = 16;
const NOT_SENT: DeliveryState = { attempts: 0, lastStatus: null };

export class EventDelivery {
  private plan: DeliveryPlan = { copies: 1, delayMs: 0, drop: 0, hold: 0 };
  private held: StoredEvent[] = [];
  private readonly ready: StoredEvent[] = [];
  private readonly states = new Map<string, DeliveryState>();
  private readonly end = new AbortController();
  private underWay = 0;

  constructor(
    private readonly record: ProcessorRecord,
    private readonly receiver: EventReceiver | null,
    private readonly timers: Timers,
    private readonly now: () => number,
  ) {
    // Each exchange listens for the end.
    setMaxListeners(0, this.end.signal);
  }

  /** Continues the work of an earlier process. */
  resume(): void {
    for (const event of this.record.allEvents()) if (this.record.endOf(event) === null) this.sendAfter(event, 0);
  }

  /** Called when an event is in the journal. */
  add(events: readonly StoredEvent[]): void {
    for (const event of events) {
      if (this.plan.drop > 0) {
        this.change({ drop: this.plan.drop - 1 });
        this.record.endEvent(event.id, 'dropped');
        void this.record.kept();
      } else if (this.plan.hold > 0) {
        this.held.push(event);
        this.change({ hold: this.plan.hold - 1 });
      } else {
        this.sendAfter(event, this.plan.delayMs);
      }
    }
  }

  change(plan: Partial<DeliveryPlan>): DeliveryPlan {
    this.plan = { ...this.plan, ...plan };
    if (this.plan.hold === 0 && this.held.length > 0) {
      const backwards = this.held.reverse();
      this.held = [];
      void this.sendInOrder(backwards);
    }
    return this.plan;
  }

  stateOf(event: StoredEvent): DeliveryState {
    return this.states.get(event.id) ?? NOT_SENT;
  }

  /** Makes one attempt now, regardless of earlier attempts. Null when the receiver sent no answer. */
  async resend(event: StoredEvent): Promise<number | null> {
    const status = await this.post(event);
    this.noteEnd(event, status);
    return status;
  }

  close(): void {
    this.end.abort();
  }

  private async sendInOrder(events: readonly StoredEvent[]): Promise<void> {
    for (const event of events) await this.send(event);
  }

  private sendAfter(event: StoredEvent, delayMs: number): void {
    if (this.receiver === null || this.end.signal.aborted) return;
    this.timers.after(delayMs, () => {
      this.ready.push(event);
      this.pump();
    });
  }

  private pump(): void {
    while (this.underWay < AT_ONCE) {
      const event = this.ready.shift();
      if (event === undefined) return;
      this.underWay += 1;
      void this.send(event).finally(() => {
        this.underWay -= 1;
        this.pump();
      });
    }
  }

  private async send(event: StoredEvent): Promise<void> {
    const first = this.stateOf(event).attempts === 0;
    const status = await this.post(event);
    for (let copy = 1; first && copy < this.plan.copies; copy += 1) await this.post(event);
    if (this.noteEnd(event, status)) return;
    this.sendAfter(event, RETRY_AFTER_MS[this.stateOf(event).attempts - 1] ?? LAST_RETRY_AFTER_MS);
  }

  private async post(event: StoredEvent): Promise<number | null> {
    if (this.receiver === null) return null;
    const status = await this.exchange(this.receiver, event);
    this.states.set(event.id, { attempts: this.stateOf(event).attempts + 1, lastStatus: status });
    return status;
  }

  private async exchange({ url, secret }: EventReceiver, event: StoredEvent): Promise<number | null> {
    const timestamp = Math.floor(this.now() / 1_000);
    const signature = createHmac('sha256', secret).update(`${timestamp}.${event.body}`).digest('hex');
    try {
      return await limited(ATTEMPT_MS, this.end.signal, async (signal) => {
        const response = await fetch(url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json; charset=utf-8',
            'stripe-signature': `t=${timestamp},v1=${signature}`,
          },
          body: event.body,
          redirect: 'manual',
          signal,
        });
        await response.body?.cancel();
        return response.status;
      });
    } catch {
      // The receiver is missing or too slow, or the sandbox is closing. The next attempt follows in each case.
      return null;
    }
  }

  /** True if the event's delivery has ended. */
  private noteEnd(event: StoredEvent, status: number | null): boolean {
    if (this.end.signal.aborted) return true;
    if (status === null || status < 200 || status > 299) return false;
    if (this.record.endOf(event) !== 'delivered') {
      this.record.endEvent(event.id, 'delivered');
      void this.record.kept();
    }
    return true;
  }
}
