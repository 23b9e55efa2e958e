// The payment processor through the `stripe` SDK, as workers ask it. Wire format in payment-wire.ts.
import { setTimeout as pause } from 'node:timers/promises';
import Stripe from 'stripe';
import {
  type Charge,
  type CheckoutPage,
  type CheckoutSession,
  type CheckoutVerdict,
  type IntentVerdict,
  type PaymentIntent,
  PaymentProcessor,
} from '../../ports/payment-processor.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import { isCheckoutId, newCheckoutParameters, readCheckout } from './checkout-wire.js';
import { BoundedExchange } from './payment-exchange.js';
import {
  type Unsettled,
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

/** The version whose answers payment-wire.ts and checkout-wire.ts read; the SDK's types are those of the same one. */
const API_VERSION = '2026-10-28.endive';
const REAL_SERVICE = 'https://api.stripe.com';
const PAUSES_MS = [20, 300, 1_000];
const EXPAND = ['latest_charge'];

type Ask<Verdict> = (options: Stripe.RequestOptions) => Promise<Verdict>;

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
    const isOurs = ({ transactionId }: PaymentIntent): boolean => transactionId === names.transactionId;
    return this.settle(call, false, async (options) => {
      const keyed = { ...options, idempotencyKey: call.attemptId };
      return readIntent(await this.stripe.paymentIntents.create(parameters, keyed), isOurs);
    });
  }

  override async changeIntent(call: VendorCall, intentId: string, charge: Charge): Promise<IntentVerdict> {
    if (!isIntentId(intentId)) return { kind: 'not-found' };
    const parameters = { ...changedIntentParameters(charge), expand: EXPAND };
    return this.settle(call, true, async (options) => {
      const keyed = { ...options, idempotencyKey: call.attemptId };
      return readIntent(
        await this.stripe.paymentIntents.update(intentId, parameters, keyed),
        ({ id }) => id === intentId,
      );
    });
  }

  override async retrieveIntent(call: VendorCall, intentId: string): Promise<IntentVerdict> {
    if (!isIntentId(intentId)) return { kind: 'not-found' };
    return this.settle(call, true, async (options) =>
      readIntent(
        await this.stripe.paymentIntents.retrieve(intentId, { expand: EXPAND }, options),
        ({ id }) => id === intentId,
      ),
    );
  }

  override async createCheckout(call: VendorCall, charge: Charge, page: CheckoutPage): Promise<CheckoutVerdict> {
    const parameters = newCheckoutParameters(charge, page);
    const isOurs = (_: CheckoutSession, reference: string | null): boolean => reference === page.reference;
    return this.settle(call, false, async (options) => {
      const keyed = { ...options, idempotencyKey: call.attemptId };
      return readCheckout(await this.stripe.checkout.sessions.create(parameters, keyed), isOurs);
    });
  }

  override async retrieveCheckout(call: VendorCall, checkoutSessionId: string): Promise<CheckoutVerdict> {
    if (!isCheckoutId(checkoutSessionId)) return { kind: 'not-found' };
    return this.settle(call, true, async (options) =>
      readCheckout(
        await this.stripe.checkout.sessions.retrieve(checkoutSessionId, {}, options),
        ({ id }) => id === checkoutSessionId,
      ),
    );
  }

  override async expireCheckout(call: VendorCall, checkoutSessionId: string): Promise<CheckoutVerdict> {
    if (!isCheckoutId(checkoutSessionId)) return { kind: 'not-found' };
    return this.settle(call, true, async (options) => {
      const keyed = { ...options, idempotencyKey: call.attemptId };
      return readCheckout(
        await this.stripe.checkout.sessions.expire(checkoutSessionId, {}, keyed),
        ({ id }) => id === checkoutSessionId,
      );
    });
  }

  /** Lets calls under way end, each within its time limit. */
  async close(): Promise<void> {
    await this.exchange.close();
  }

  /** `aboutOne`: the call names something, so that a missing resource is that. */
  private async settle<Verdict extends { readonly kind: string }>(
    call: VendorCall,
    aboutOne: boolean,
    ask: Ask<Verdict>,
  ): Promise<Verdict | Exclude<Unsettled, { kind: 'again' }>> {
    const endsAt = performance.now() + this.timeoutMs;
    const left = (): number => Math.floor(endsAt - performance.now());
    for (let tries = 0; left() > 0 && call.signal?.aborted !== true; tries += 1) {
      const timeout = left();
      const reading = await this.exchange.until(call, (headers) =>
        askOnce(ask, { timeout, headers: { ...headers, 'X-Request-Id': call.correlationId } }, aboutOne),
      );
      if (!('end' in reading)) return reading;
      const { end } = reading;
      // An earlier try may have been executed, whatever became of this one.
      if (end.kind === 'unavailable' && tries > 0) break;
      if (end.kind !== 'again') return end;
      const pauseMs = PAUSES_MS[tries];
      if (pauseMs === undefined || pauseMs >= left()) break;
      await pause(pauseMs);
    }
    return { kind: 'timed-out' };
  }
}

async function askOnce<Verdict>(
  ask: Ask<Verdict>,
  options: Stripe.RequestOptions,
  aboutOne: boolean,
): Promise<Verdict | { readonly end: Unsettled }> {
  try {
    return await ask(options);
  } catch (error) {
    return { end: readError(error, aboutOne) };
  }
}
