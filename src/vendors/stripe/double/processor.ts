// The payment processor as a part of the sandbox: its HTTP interface, its checkout page, its events (docs/sandbox.md).
import type { FastifyInstance } from 'fastify';
import type { SandboxPart } from '../../../vendor-kit/double/sandbox-part.js';
import { mountCheckoutPage, payOnPage } from './checkout-page.js';
import { mountControls } from './controls.js';
import { confirmIntent } from './intents.js';
import { Engine } from './engine.js';
import { EventDelivery, type EventReceiver } from './event-delivery.js';
import { type Keys, mountPayments } from './payment-routes.js';
import { ProcessorRecord } from './record.js';
import { Timers } from './timers.js';

export interface SandboxProcessorOptions {
  /** The folder of the journal. */
  readonly folder: string;
  /** The key that the service must send. Browsers send an intent's client secret instead. */
  readonly secretKey: string;
  /** The key that pages send with the client secret. The default is `pk_test_sandbox_processor`. */
  readonly publishableKey?: string;
  /** The receiver of events. With null, events are only listed. */
  readonly events: EventReceiver | null;
  /** The milliseconds that a bank payment takes. The default is 1,000. */
  readonly settleMs?: number;
  /** The milliseconds that a call waits when its account has set a slow processor. The default is 2,000. */
  readonly slowMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export class SandboxProcessor implements SandboxPart {
  private readonly timers = new Timers();
  private readonly record: ProcessorRecord;
  private readonly delivery: EventDelivery;
  private readonly engine: Engine;
  private readonly keys: Keys;

  constructor(private readonly options: SandboxProcessorOptions) {
    const now = options.now ?? Date.now;
    this.keys = { secret: options.secretKey, publishable: options.publishableKey ?? 'pk_test_sandbox_processor' };
    this.record = new ProcessorRecord(options.folder);
    this.delivery = new EventDelivery(this.record, options.events, this.timers, now);
    this.engine = new Engine(this.record, this.delivery, this.timers, now, options.settleMs ?? 1_000);
  }

  mount(server: FastifyInstance): void {
    mountPayments(server, this.engine, this.keys, this.options.slowMs);
    mountCheckoutPage(server, this.engine);
    mountControls(server, this.engine);
    this.engine.resume();
  }

  /** The consumer pays an intent or a checkout session with a test payment method. A decline changes the payment as well. */
  async pay(id: string, paymentMethod: string): Promise<void> {
    const { engine } = this;
    const session = this.record.session(id);
    if (session !== null) {
      await payOnPage(engine, session, paymentMethod);
      return;
    }
    const change = confirmIntent(engine.intent(id), paymentMethod, engine.now(), engine.settleMs);
    await engine.happen(engine.intentChanges(change, null));
  }

  /** The charge of the intent or checkout session that the call with this key made or changed; null for an unknown key. */
  understood(key: string): Readonly<Record<string, unknown>> | null {
    const call = this.record.call(key);
    const body = call.state === 'executed' ? call.answer.body : {};
    const id = 'id' in body ? String(body.id) : '';
    const object = this.record.intent(id) ?? this.record.session(id);
    if (object === null) return null;
    const { amount, currency, applicationFee, destination } = object;
    return { amountCents: amount, currency, connectedAccount: destination, applicationFeeCents: applicationFee };
  }

  close(): void {
    this.delivery.close();
    this.timers.clear();
    this.record.shut();
  }
}
