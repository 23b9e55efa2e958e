// The processor's HTTP interface under /v1: form-encoded calls, JSON answers, idempotency keys.
import { randomUUID, timingSafeEqual } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { followBehaviours } from '../../../vendor-kit/double/vendor-calls.js';
import { methodOfCardData, withoutCard } from './cards.js';
import type { Engine, Execution } from './engine.js';
import { ProcessorError, invalid, missing } from './errors.js';
import { type FormEntries, Parameters, formEntries } from './form.js';
import {
  authenticateIntent,
  cancelIntent,
  changeIntent,
  confirmIntent,
  createIntent,
  type IntentChange,
  refundIntent,
} from './intents.js';
import { chargeObject, intentObject, publicIntentObject, refundObject, sessionObject } from './objects.js';
import type { Operation } from './record.js';
import { readCheckoutSession, readIntentChange, readNewIntent } from './requests.js';
import { openSession } from './checkout-sessions.js';
import type { Intent } from './state.js';

type Incoming = FastifyRequest<{
  Params: { id: string };
  Querystring: Record<string, string>;
  Body: FormEntries | undefined;
}>;
/** Reads and checks the parameters, and returns the function that executes the call. */
type Prepare = (parameters: Parameters, request: Incoming, key: string | null) => () => Execution;

const KEY = /^[\x20-\x7e]{1,255}$/;

export function mountPayments(server: FastifyInstance, engine: Engine, keys: Keys, slowMs?: number): void {
  const routes = new PaymentRoutes(engine, keys);
  server.register(
    (v1, _options, done) => {
      followBehaviours(v1, slowMs);
      routes.mount(v1);
      done();
    },
    { prefix: '/v1' },
  );
}

export interface Keys {
  readonly secret: string;
  /** The publishable key that pages send with an intent's client secret. */
  readonly publishable: string;
}

class PaymentRoutes {
  private readonly secretKey: Buffer;

  constructor(
    private readonly engine: Engine,
    private readonly keys: Keys,
  ) {
    this.secretKey = Buffer.from(keys.secret);
  }

  mount(v1: FastifyInstance): void {
    v1.removeAllContentTypeParsers();
    v1.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, parsed) =>
      parsed(null, formEntries(String(body))),
    );
    v1.setNotFoundHandler((_request, reply) =>
      fail(reply, new ProcessorError(404, { type: 'invalid_request_error', message: 'Unrecognized request URL.' })),
    );
    v1.setErrorHandler((error: FastifyError | ProcessorError, _request, reply) => fail(reply, error));
    v1.addHook('onRequest', (_request, reply, done) => {
      // Browsers confirm from the pages of every site that embeds the form.
      reply.headers({
        'request-id': `req_${randomUUID().replaceAll('-', '').slice(0, 14)}`,
        'access-control-allow-origin': '*',
      });
      done();
    });
    v1.options('/*', (_request, reply) => {
      reply.headers({
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': 'authorization, content-type, idempotency-key',
        'access-control-max-age': '600',
      });
      return reply.code(204).send();
    });
    this.post(v1, '/payment_intents', 'intent-create', (parameters, _request, key) => {
      const wanted = readNewIntent(parameters);
      return () => this.engine.executionOf(createIntent(wanted, this.engine.now()), body(parameters), key);
    });
    v1.get('/payment_intents', (request: Incoming, reply) =>
      this.list(request, reply, this.engine.record.allIntents(), (intent, parameters) => body(parameters)(intent)),
    );
    v1.get('/payment_intents/:id', (request: Incoming, reply) => this.retrieveIntent(request, reply));
    this.post(v1, '/payment_intents/:id', 'intent-update', (parameters, { params }, key) => {
      const wanted = readIntentChange(parameters);
      this.engine.intent(params.id);
      return () => this.engine.executionOf(changeIntent(this.engine.intent(params.id), wanted), body(parameters), key);
    });
    this.post(v1, '/payment_intents/:id/confirm', 'intent-confirm', (parameters, request, key) => {
      parameters.only(
        'payment_method',
        'payment_method_data',
        'client_secret',
        'return_url',
        'expand',
        'key',
        'use_stripe_sdk',
      );
      const { show } = this.admit(request, parameters);
      const method = parameters.has('payment_method_data')
        ? methodOfCardData(parameters.nested('payment_method_data'), this.engine.now())
        : parameters.text('payment_method');
      return () =>
        this.execution(
          request,
          (intent) => confirmIntent(intent, method, this.engine.now(), this.engine.settleMs),
          show,
          key,
        );
    });
    this.post(v1, '/payment_intents/:id/authenticate', 'intent-authenticate', (parameters, request, key) => {
      const outcome = parameters.only('outcome', 'client_secret', 'expand', 'key').text('outcome') ?? 'success';
      if (outcome !== 'success' && outcome !== 'failure')
        throw invalid('outcome', null, 'The outcome is success or failure.');
      const { show } = this.admit(request, parameters);
      return () =>
        this.execution(
          request,
          (intent) => authenticateIntent(intent, outcome === 'success', this.engine.now()),
          show,
          key,
        );
    });
    this.post(v1, '/payment_intents/:id/cancel', 'intent-cancel', (parameters, { params }, key) => {
      parameters.only('cancellation_reason', 'expand');
      this.engine.intent(params.id);
      return () =>
        this.engine.executionOf(cancelIntent(this.engine.intent(params.id), this.engine.now()), body(parameters), key);
    });
    this.mountCheckout(v1);
    this.post(v1, '/refunds', 'refund-create', (parameters, _request, key) => this.refund(parameters, key));
  }

  private mountCheckout(v1: FastifyInstance): void {
    this.post(v1, '/checkout/sessions', 'checkout-create', (parameters, request) => {
      const wanted = readCheckoutSession(parameters);
      return () => {
        const session = openSession(wanted, `${request.protocol}://${request.host}/checkout`, this.engine.now());
        return { answer: { status: 200, body: sessionObject(session) }, changes: { sessions: [session] } };
      };
    });
    v1.get('/checkout/sessions', (request: Incoming, reply) =>
      this.list(request, reply, this.engine.record.allSessions(), (session) => sessionObject(session)),
    );
    v1.get('/checkout/sessions/:id', (request: Incoming, reply) => {
      this.requireSecretKey(request);
      this.refuseDuringOutage();
      const session = this.engine.session(request.params.id);
      const expanded = expands(queryOf(request), 'payment_intent') && session.intentId !== null;
      return reply.send(sessionObject(session, expanded ? this.engine.intent(session.intentId ?? '') : null));
    });
    this.post(v1, '/checkout/sessions/:id/expire', 'checkout-expire', (parameters, { params }, key) => {
      parameters.only('expand');
      this.engine.session(params.id);
      return () => {
        const { session, ...changes } = this.engine.expiryOf(this.engine.session(params.id), key);
        return { answer: { status: 200, body: sessionObject(session) }, changes };
      };
    });
  }

  private refund(parameters: Parameters, key: string | null): () => Execution {
    parameters.only(
      'payment_intent',
      'charge',
      'amount',
      'reason',
      'metadata',
      'expand',
      'refund_application_fee',
      'reverse_transfer',
    );
    const [intentId, chargeId, amount] = [
      parameters.text('payment_intent'),
      parameters.text('charge'),
      parameters.integer('amount'),
    ];
    if (intentId === null && chargeId === null)
      throw invalid('charge', 'parameter_missing', 'One of payment_intent and charge must be there.');
    const takenBack = {
      transfer: parameters.text('reverse_transfer') === 'true',
      fee: parameters.text('refund_application_fee') === 'true',
    };
    const { record, faults } = this.engine;
    const found =
      intentId === null
        ? record.allIntents().find(({ charges }) => charges.some(({ id }) => id === chargeId))
        : record.intent(intentId);
    if (found === null || found === undefined)
      throw intentId === null ? missing('charge', 'charge', 400) : missing('payment_intent', 'payment_intent', 400);
    return () => {
      if (faults.refundsToRefuse > 0) {
        faults.refundsToRefuse -= 1;
        throw new ProcessorError(400, {
          type: 'invalid_request_error',
          code: 'balance_insufficient',
          message: 'The balance does not cover the refund.',
        });
      }
      const now = this.engine.now();
      const { intent, charge, refund } = refundIntent(this.engine.intent(found.id), amount, takenBack, now);
      const event = this.engine.event('charge.refunded', chargeObject(charge, intent), intent.id, key);
      const body = refundObject(refund, charge, intent);
      return { answer: { status: 200, body }, changes: { intents: [intent], events: [event] } };
    };
  }

  private retrieveIntent(request: Incoming, reply: FastifyReply): FastifyReply {
    this.refuseDuringOutage();
    const { intent, show } = this.admit(request, queryOf(request));
    return reply.send(show(intent));
  }

  /** The newest first. */
  private list<Item extends { readonly id: string; readonly created: number }>(
    request: Incoming,
    reply: FastifyReply,
    items: readonly Item[],
    show: (item: Item, parameters: Parameters) => object,
  ): FastifyReply {
    this.requireSecretKey(request);
    this.refuseDuringOutage();
    const parameters = queryOf(request).only('limit', 'created', 'starting_after', 'expand');
    const since = (parameters.nested('created').only('gte').integer('gte') ?? 0) * 1_000;
    const limit = parameters.integer('limit') ?? 10;
    const newest = items.filter(({ created }) => created >= since).reverse();
    const after = parameters.text('starting_after');
    const from = after === null ? 0 : newest.findIndex(({ id }) => id === after) + 1;
    return reply.send({
      object: 'list',
      data: newest.slice(from, from + limit).map((item) => show(item, parameters)),
      has_more: newest.length > from + limit,
      url: request.url.split('?')[0],
    });
  }

  private refuseDuringOutage(): void {
    if (this.engine.now() < this.engine.faults.outageEnds)
      throw new ProcessorError(503, { type: 'api_error', message: 'The service is down.' });
  }

  /** Every POST checks the caller, then the key's earlier use, then the parameters. */
  private post(v1: FastifyInstance, path: string, operation: Operation, prepare: Prepare): void {
    v1.post(path, async (request: Incoming, reply) => {
      const entries = request.body ?? [];
      if (!isForBrowsers(operation)) this.requireSecretKey(request);
      const key = keyOf(request);
      const outcome = await this.engine.run({
        operation,
        key,
        content: [request.params.id ?? '', JSON.stringify(withoutCard(entries))],
        prepare: () => prepare(Parameters.of(entries), request, key),
      });
      if (outcome === null) return cutOff(request, reply);
      if (outcome.replayed) reply.header('idempotent-replayed', 'true');
      return reply.code(outcome.answer.status).send(outcome.answer.body);
    });
  }

  /** A refusal reveals no more of the intent than a success. */
  private execution(
    { params }: Incoming,
    change: (intent: Intent) => IntentChange,
    show: (intent: Intent) => object,
    key: string | null,
  ): Execution {
    const intent = this.engine.intent(params.id);
    try {
      return this.engine.executionOf(change(intent), show, key);
    } catch (error) {
      if (!(error instanceof ProcessorError) || error.error.payment_intent === undefined) throw error;
      throw new ProcessorError(error.status, { ...error.error, payment_intent: show(intent) });
    }
  }

  /** Accepts a caller with the secret key, or with the intent's client secret. The client secret shows fewer fields of the intent. */
  private admit(
    request: Incoming,
    parameters: Parameters,
  ): { readonly intent: Intent; readonly show: (intent: Intent) => object } {
    const shown = parameters.text('client_secret');
    const credential = credentialOf(request) ?? parameters.text('key');
    const asBrowser = shown !== null && (credential === null || credential.startsWith('pk_'));
    if (!asBrowser) this.requireSecretKey(request);
    else if (credential !== null && credential !== this.keys.publishable) throw wrongKey();
    const intent = this.engine.intent(request.params.id);
    if (shown !== null && shown !== intent.clientSecret) {
      throw invalid(
        'client_secret',
        'payment_intent_invalid_parameter',
        'The client_secret provided does not match the client_secret associated with the PaymentIntent.',
      );
    }
    return { intent, show: asBrowser ? publicIntentObject : body(parameters) };
  }

  private requireSecretKey(request: Incoming): void {
    const shown = Buffer.from(credentialOf(request) ?? '');
    if (shown.length === this.secretKey.length && timingSafeEqual(shown, this.secretKey)) return;
    throw wrongKey();
  }
}

function wrongKey(): ProcessorError {
  return new ProcessorError(401, { type: 'invalid_request_error', message: 'Invalid API Key provided.' });
}

function isForBrowsers(operation: Operation): boolean {
  return operation === 'intent-confirm' || operation === 'intent-authenticate';
}

/** The bearer token, or the user name of basic authentication, in which `curl -u` sends a key. */
function credentialOf({ headers: { authorization = '' } }: FastifyRequest): string | null {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization) ?? [];
  if (scheme === '') return null;
  if (scheme.toLowerCase() === 'bearer') return value;
  return Buffer.from(value, 'base64').toString('utf8').split(':')[0] ?? null;
}

function keyOf({ headers }: FastifyRequest): string | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw new ProcessorError(400, {
    type: 'idempotency_error',
    message: 'Keys for idempotent requests have up to 255 visible characters.',
  });
}

function queryOf(request: FastifyRequest): Parameters {
  return Parameters.of(formEntries(request.url.split('?')[1] ?? ''));
}

function expands(parameters: Parameters, field: string): boolean {
  return parameters.texts('expand').includes(field);
}

function body(parameters: Parameters): (intent: Intent) => object {
  const chargeToo = expands(parameters, 'latest_charge.refunds')
    ? 'with-refunds'
    : expands(parameters, 'latest_charge');
  return (intent) => intentObject(intent, chargeToo);
}

function cutOff(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack();
  request.raw.socket.resetAndDestroy();
  return reply;
}

function fail(reply: FastifyReply, error: FastifyError | ProcessorError): FastifyReply {
  if (error instanceof ProcessorError) return reply.code(error.status).send({ error: error.error });
  const status = error.statusCode ?? 500;
  if (status < 500)
    return reply.code(status).send({
      error: { type: 'invalid_request_error', message: 'The request is not acceptable HTTP or not form-encoded.' },
    });
  process.stderr.write(
    `${JSON.stringify({ level: 'error', msg: 'sandbox failure', error: error.name, code: error.code })}\n`,
  );
  return reply.code(500).send({ error: { type: 'api_error', message: 'The sandbox itself failed.' } });
}
