// The payment processor through the `stripe` SDK, as workers ask it. Wire format in payment-wire.ts.
import { setTimeout as pause } from 'node:timers/promises';
import Stripe from 'stripe';
import {
  type Charge,
  type IntentVerdict,
  type PaymentIntent,
  PaymentProcessor,
} from '../../ports/payment-processor.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import { BoundedExchange } from './payment-exchange.js';
import {
  type Reading,
  changedIntentParameters,
  isIntentId,
  newIntentParameters,
  readError,
  readIntent,
} from './payment-wire.js';

export interface StripePaymentProcessorOptions {
  readonly secretKey: string;
  /** Address of a processor that speaks the same interface, such as the sandbox; null: the real service. */
  readonly baseUrl: string | null;
  /** Milliseconds over the whole call: queueing for a connection, connecting, headers, body, and asking again after an ambiguous end. */
  readonly timeoutMs: number;
  /** Connections at most; default 64. */
  readonly connections?: number;
}

/** The version whose answers stripe-wire.ts reads; the SDK's types are those of the same one. */
const API_VERSION = '2026-10-28.endive';
const REAL_SERVICE = 'https://api.stripe.com';
const PAUSES_MS = [20, 300, 1_000];
const EXPAND = ['latest_charge'];

type Ask = (options: Stripe.RequestOptions) => Promise<Stripe.Response<Stripe.PaymentIntent>>;

/**
 * After an ambiguous end the same call is sent again under the same key, within the same time limit: it is executed once,
 * and the answer of then comes back. So the state in a repeated answer is that of the first execution, and may be old.
 * A call of which one try ended ambiguously is never `unavailable`: it may have been executed. Follows no redirect, sends
 * no telemetry, logs nothing.
 */
export class StripePaymentProcessor extends PaymentProcessor {
  private readonly exchange: BoundedExchange;
  private readonly stripe: Stripe;
  private readonly timeoutMs: number;

  constructor(options: StripePaymentProcessorOptions) {
    super();
    const baseUrl = options.baseUrl ?? REAL_SERVICE;
    const { protocol, hostname, port } = new URL(baseUrl);
    this.timeoutMs = options.timeoutMs;
    this.exchange = new BoundedExchange(baseUrl, options.timeoutMs, options.connections ?? 64);
    this.stripe = new Stripe(options.secretKey, {
      apiVersion: API_VERSION,
      httpClient: this.exchange,
      host: hostname,
      port: port === '' ? (protocol === 'https:' ? '443' : '80') : port,
      protocol: protocol === 'https:' ? 'https' : 'http',
      maxNetworkRetries: 0,
      telemetry: false,
    });
  }

  override async createIntent(
    call: VendorCall,
    charge: Charge,
    names: { readonly transactionId: string; readonly sessionId: string },
  ): Promise<IntentVerdict> {
    const parameters = { ...newIntentParameters(charge, names), expand: EXPAND };
    const ask: Ask = (options) =>
      this.stripe.paymentIntents.create(parameters, { ...options, idempotencyKey: call.attemptId });
    return this.settle(call, ask, ({ transactionId }) => transactionId === names.transactionId, false);
  }

  override async changeIntent(call: VendorCall, intentId: string, charge: Charge): Promise<IntentVerdict> {
    if (!isIntentId(intentId)) return { kind: 'not-found' };
    const parameters = { ...changedIntentParameters(charge), expand: EXPAND };
    const ask: Ask = (options) =>
      this.stripe.paymentIntents.update(intentId, parameters, { ...options, idempotencyKey: call.attemptId });
    return this.settle(call, ask, ({ id }) => id === intentId, true);
  }

  override async retrieveIntent(call: VendorCall, intentId: string): Promise<IntentVerdict> {
    if (!isIntentId(intentId)) return { kind: 'not-found' };
    const ask: Ask = (options) => this.stripe.paymentIntents.retrieve(intentId, { expand: EXPAND }, options);
    return this.settle(call, ask, ({ id }) => id === intentId, true);
  }

  /** Lets calls under way end, each within its time limit. */
  async close(): Promise<void> {
    await this.exchange.close();
  }

  private async settle(
    call: VendorCall,
    ask: Ask,
    isTheOne: (intent: PaymentIntent) => boolean,
    aboutOne: boolean,
  ): Promise<IntentVerdict> {
    const endsAt = performance.now() + this.timeoutMs;
    const left = (): number => Math.floor(endsAt - performance.now());
    for (let tries = 0; left() > 0 && call.signal?.aborted !== true; tries += 1) {
      const options = { timeout: left(), headers: { 'X-Request-Id': call.correlationId } };
      const reading = await this.exchange.until(call.signal, () => this.askOnce(ask, options, isTheOne, aboutOne));
      // An earlier try may have been executed, whatever became of this one.
      if (reading.kind === 'unavailable' && tries > 0) break;
      if (reading.kind !== 'again') return reading;
      const pauseMs = PAUSES_MS[tries];
      if (pauseMs === undefined || pauseMs >= left()) break;
      await pause(pauseMs);
    }
    return { kind: 'timed-out' };
  }

  private async askOnce(
    ask: Ask,
    options: Stripe.RequestOptions,
    isTheOne: (intent: PaymentIntent) => boolean,
    aboutOne: boolean,
  ): Promise<Reading> {
    try {
      return readIntent(await ask(options), isTheOne);
    } catch (error) {
      return readError(error, aboutOne);
    }
  }
}
