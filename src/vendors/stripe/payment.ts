// The payment processor through the `stripe` SDK, for workers. payment-wire.ts has the wire format.
import { setTimeout as pause } from 'node:timers/promises';
import Stripe from 'stripe';
import { machineNow } from '../../kernel/machine-time.js';
import {
  type Charge,
  type CheckoutPage,
  type CheckoutSession,
  type CheckoutVerdict,
  type IntentVerdict,
  type PaymentIntent,
  PaymentProcessor,
  type RefundVerdict,
} from '../../ports/payment-processor.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import type { Secret } from '../../kernel/vendor-settings.js';
import { isCheckoutId, newCheckoutParameters, readCheckout } from './checkout-wire.js';
import { SdkClient } from './payment-exchange.js';
import {
  type Unsettled,
  changedIntentParameters,
  isIntentId,
  newIntentParameters,
  readError,
  readIntent,
  readParts,
  readRefund,
} from './payment-wire.js';

export interface StripePaymentProcessorOptions {
  readonly secretKey: Secret;
  /** The address of a processor with the same interface, such as the sandbox; null for the real service. */
  readonly baseUrl: string | null;
  /** The milliseconds of the whole call: waiting for a connection, connecting, headers, body, and repeated requests when the outcome is unknown. */
  readonly timeoutMs: number;
  /** The largest number of connections. The default is 64. */
  readonly connections?: number;
  /** The milliseconds before each repeated request. */
  readonly pausesMs?: readonly number[];
}

/** The API version that payment-wire.ts and checkout-wire.ts read. The SDK's types belong to the same version. */
const API_VERSION = '2026-10-28.endive';
/** The SDK wants a key. The client sends the secret instead. */
const KEY_OF_THE_CLIENT = 'sk_of_the_client';
const REAL_SERVICE = 'https://api.stripe.com';
const PAUSES_MS = [20, 300, 1_000];
const EXPAND = ['latest_charge.refunds'];
/** The time for which the processor keeps an answer under its key. */
const KEY_KEPT_SECONDS = 86_400;
const PAGE = 100;
const MOST_LISTED = 500;
const NOT_MADE = { kind: 'not-made' } as const;
const FOUND: readonly string[] = ['intent', 'checkout', NOT_MADE.kind];

type Ended = Exclude<Unsettled, { kind: 'again' | 'failed' }>;
type Ask<Verdict> = (options: Stripe.RequestOptions) => Promise<Verdict>;

/**
 * Repeats a call when its outcome is unknown, with the same key and within the same time limit. The processor executes the call once and repeats its
 * first answer. The state in a repeated answer may therefore be old. After a try with an unknown outcome, a call is never `unavailable`, because it
 * may have been executed. If the processor answers a creation each time with a fault of its own, the object is searched for; a missing one is
 * `not-made`. Follows no redirect, sends no telemetry, logs nothing.
 */
export class StripePaymentProcessor extends PaymentProcessor {
  private readonly client: SdkClient;
  private readonly stripe: Stripe;
  private readonly timeoutMs: number;
  private readonly pausesMs: readonly number[];

  constructor(options: StripePaymentProcessorOptions) {
    super();
    const baseUrl = options.baseUrl ?? REAL_SERVICE;
    const { protocol, hostname, port } = new URL(baseUrl);
    this.timeoutMs = options.timeoutMs;
    this.pausesMs = options.pausesMs ?? PAUSES_MS;
    const { secretKey, timeoutMs, connections = 64 } = options;
    this.client = new SdkClient({ baseUrl, secretKey, timeoutMs, connections });
    this.stripe = new Stripe(KEY_OF_THE_CLIENT, {
      apiVersion: API_VERSION,
      httpClient: this.client,
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
    return this.create(
      call,
      async (keyed) => readIntent(await this.stripe.paymentIntents.create(parameters, keyed), isOurs),
      async (options) => {
        const listed = this.stripe.paymentIntents.list(recent(), options);
        const id = await idIn(listed, ({ metadata }) => metadata?.transaction_id === names.transactionId);
        return id === null
          ? NOT_MADE
          : readIntent(await this.stripe.paymentIntents.retrieve(id, { expand: EXPAND }, options), isOurs);
      },
    );
  }

  override async changeIntent(call: VendorCall, intentId: string, charge: Charge): Promise<IntentVerdict> {
    if (!isIntentId(intentId)) return { kind: 'not-found' };
    const parameters = { ...changedIntentParameters(charge), expand: EXPAND };
    return this.change(call, async (keyed) =>
      readIntent(await this.stripe.paymentIntents.update(intentId, parameters, keyed), ({ id }) => id === intentId),
    );
  }

  override async retrieveIntent(call: VendorCall, intentId: string): Promise<IntentVerdict> {
    if (!isIntentId(intentId)) return { kind: 'not-found' };
    return this.look(call, async (options) =>
      readIntent(
        await this.stripe.paymentIntents.retrieve(intentId, { expand: EXPAND }, options),
        ({ id }) => id === intentId,
      ),
    );
  }

  /** The intent tells which parts to refund, because the service's last change of them may never have reached the processor. */
  override async refundIntent(call: VendorCall, intentId: string): Promise<RefundVerdict> {
    if (!isIntentId(intentId)) return { kind: 'not-found' };
    const endsAt = this.limit();
    const seen = await this.look(
      call,
      async (options) => readParts(await this.stripe.paymentIntents.retrieve(intentId, {}, options), intentId),
      endsAt,
    );
    if (seen.kind !== 'parts') return seen;
    const { parameters } = seen;
    return this.change(
      call,
      async (keyed) => readRefund(await this.stripe.refunds.create(parameters, keyed), intentId),
      endsAt,
    );
  }

  override async createCheckout(call: VendorCall, charge: Charge, page: CheckoutPage): Promise<CheckoutVerdict> {
    const parameters = newCheckoutParameters(charge, page);
    const isOurs = (_: CheckoutSession, reference: string | null): boolean => reference === page.reference;
    return this.create(
      call,
      async (keyed) => readCheckout(await this.stripe.checkout.sessions.create(parameters, keyed), isOurs),
      async (options) => {
        const listed = this.stripe.checkout.sessions.list(recent(), options);
        const id = await idIn(listed, ({ client_reference_id }) => client_reference_id === page.reference);
        return id === null
          ? NOT_MADE
          : readCheckout(await this.stripe.checkout.sessions.retrieve(id, {}, options), isOurs);
      },
    );
  }

  override async retrieveCheckout(call: VendorCall, checkoutSessionId: string): Promise<CheckoutVerdict> {
    if (!isCheckoutId(checkoutSessionId)) return { kind: 'not-found' };
    return this.look(call, async (options) =>
      readCheckout(
        await this.stripe.checkout.sessions.retrieve(checkoutSessionId, {}, options),
        ({ id }) => id === checkoutSessionId,
      ),
    );
  }

  override async expireCheckout(call: VendorCall, checkoutSessionId: string): Promise<CheckoutVerdict> {
    if (!isCheckoutId(checkoutSessionId)) return { kind: 'not-found' };
    return this.change(call, async (keyed) =>
      readCheckout(
        await this.stripe.checkout.sessions.expire(checkoutSessionId, {}, keyed),
        ({ id }) => id === checkoutSessionId,
      ),
    );
  }

  /** Lets calls in progress end, each within its time limit. */
  async close(): Promise<void> {
    await this.client.close();
  }

  /** If the processor answers with a fault of its own every time, `find` searches for an object that was made in spite of the fault. */
  private async create<Verdict extends { readonly kind: string }>(
    call: VendorCall,
    ask: Ask<Verdict>,
    find: Ask<Verdict | typeof NOT_MADE>,
  ): Promise<Verdict | Ended> {
    const endsAt = this.limit();
    const made = await this.settle(call, false, endsAt, keyed(call, ask));
    if (made.kind !== 'failed') return made as Verdict | Ended;
    const found = await this.settle(call, false, endsAt, find);
    return FOUND.includes(found.kind) ? (found as Verdict | Ended) : { kind: 'timed-out' };
  }

  private async change<Verdict extends { readonly kind: string }>(
    call: VendorCall,
    ask: Ask<Verdict>,
    endsAt = this.limit(),
  ): Promise<Verdict | Ended> {
    const changed = await this.settle(call, true, endsAt, keyed(call, ask));
    return changed.kind === 'failed' ? NOT_MADE : (changed as Verdict | Ended);
  }

  private async look<Verdict extends { readonly kind: string }>(
    call: VendorCall,
    ask: Ask<Verdict>,
    endsAt = this.limit(),
  ): Promise<Verdict | Ended> {
    const seen = await this.settle(call, true, endsAt, ask);
    return seen.kind === 'failed' ? { kind: 'timed-out' } : (seen as Verdict | Ended);
  }

  private limit(): number {
    return performance.now() + this.timeoutMs;
  }

  /** `aboutOne`: the call names an object, so a missing resource is that object. */
  private async settle<Verdict extends { readonly kind: string }>(
    call: VendorCall,
    aboutOne: boolean,
    endsAt: number,
    ask: Ask<Verdict>,
  ): Promise<Verdict | Ended | { readonly kind: 'failed' }> {
    const left = (): number => (call.signal?.aborted ? 0 : Math.floor(endsAt - performance.now()));
    for (let tries = 0; left() > 0; tries += 1) {
      const timeout = left();
      const reading = await this.client.until(call, (headers, isAsked) =>
        askOnce(ask, { timeout, headers }, aboutOne, isAsked),
      );
      if (!('end' in reading)) return reading;
      const { kind, ...end } = reading.end;
      // An earlier try may have been executed, whatever the result of this try.
      if (kind === 'unavailable' && tries > 0) break;
      if (kind !== 'again' && kind !== 'failed') return { kind, ...end } as Ended;
      const pauseMs = this.pausesMs[tries];
      if (pauseMs === undefined && kind === 'failed') return { kind };
      if (pauseMs === undefined || pauseMs >= left()) break;
      await pause(pauseMs);
    }
    return { kind: 'timed-out' };
  }
}

function keyed<Verdict>({ attemptId }: VendorCall, ask: Ask<Verdict>): Ask<Verdict> {
  return (options) => ask({ ...options, idempotencyKey: attemptId });
}

/** The list has the newest first. */
function recent(): { readonly limit: number; readonly created: { readonly gte: number } } {
  return { limit: PAGE, created: { gte: Math.floor(machineNow() / 1_000) - KEY_KEPT_SECONDS } };
}

/** Also null if the list is too long to search. */
async function idIn<Item extends { readonly id: string }>(
  listed: AsyncIterable<Item>,
  isTheOne: (item: Item) => boolean,
): Promise<string | null> {
  let left = MOST_LISTED;
  for await (const item of listed) {
    if (isTheOne(item)) return item.id;
    if ((left -= 1) === 0) break;
  }
  return null;
}

async function askOnce<Verdict>(
  ask: Ask<Verdict>,
  options: Stripe.RequestOptions,
  aboutOne: boolean,
  isAsked: () => boolean,
): Promise<Verdict | { readonly end: Unsettled }> {
  try {
    return await ask(options);
  } catch (error) {
    // The SDK cannot put the parameters into a request.
    if (!isAsked()) return { end: NOT_MADE };
    return { end: readError(error, aboutOne) };
  }
}
