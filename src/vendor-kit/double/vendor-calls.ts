// Receives the calls to a sandbox vendor. Checks the credential and the idempotency keys, plays outages, lost answers and delays, and serves the
// controls for tests.
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Answer, CallRecord, Execution } from './call-record.js';
import { sendError } from './sandbox-part.js';

const FAULTS = ['down', 'reset', 'redirect', 'garbled', 'silent'] as const;
/** A fault that occurs before anything is executed. */
export type Fault = (typeof FAULTS)[number];

export interface Call<Operation, Effect> {
  readonly operation: Operation;
  /** The content that two calls with one key must have in common. */
  readonly content: readonly string[];
  readonly delayMs?: number;
  /** Runs only for an unused key, and receives the key. After a fault nothing was executed, and the key is unused again. */
  readonly execute: (key: string) => Execution<Effect> | { readonly fault: Fault };
  /** Adds the request's personal data to an answer, because the journal stores none. Repeated answers pass through this function again. */
  readonly complete?: (answer: Answer) => Answer;
}

export interface VendorCallsOptions {
  /** The bearer credential that callers must send. */
  readonly credential: string;
  /** The milliseconds after which a call without an answer counts as not executed. The default is 60,000. */
  readonly silentMs?: number;
  /** The milliseconds that a slow call waits. The default is 2,000. */
  readonly slowMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const SLOW_MS = 2_000;
const KEY = /^[\x21-\x7e]{1,255}$/;

const NO_QUERY = { type: 'object', additionalProperties: false };
const one = (name: string, schema: object): object => ({
  ...NO_QUERY,
  required: [name],
  properties: { [name]: schema },
});
const CALLS = { querystring: { ...NO_QUERY, properties: { key: { type: 'string', minLength: 1, maxLength: 255 } } } };
const OUTAGE = {
  querystring: NO_QUERY,
  body: {
    ...NO_QUERY,
    required: ['seconds'],
    properties: {
      seconds: { type: 'number', minimum: 0, maximum: 86_400 },
      retryAfter: { type: 'integer', minimum: 0, maximum: 86_400 },
    },
  },
};
const FAULT = { querystring: NO_QUERY, body: one('fault', { type: 'string', enum: FAULTS }) };
const LOST_ANSWERS = { querystring: NO_QUERY, body: one('calls', { type: 'integer', minimum: 0, maximum: 1_000 }) };

export class VendorCalls<Operation extends string, Effect> {
  readonly now: () => number;
  private readonly credential: Buffer;
  private readonly silentMs: number;
  private readonly slowMs: number;
  private readonly timers = new Set<NodeJS.Timeout>();
  private outageEnds = 0;
  /** The wait in seconds that the vendor announces during the outage. */
  private retryAfter: number | undefined;
  private answersToLose = 0;
  private nextFault: Fault | null = null;

  constructor(
    private readonly record: CallRecord<Operation, Effect>,
    options: VendorCallsOptions,
  ) {
    this.credential = Buffer.from(`Bearer ${options.credential}`);
    this.silentMs = options.silentMs ?? 60_000;
    this.slowMs = options.slowMs ?? SLOW_MS;
    this.now = options.now ?? Date.now;
  }

  /** Refuses a call without the credential. Gives the next call the fault that a test requested. */
  guard(routes: FastifyInstance): void {
    routes.addHook('onRequest', (request, reply, next) => {
      if (this.outage() && this.retryAfter !== undefined) void reply.header('retry-after', this.retryAfter);
      if (this.mayCall(request.headers.authorization)) next();
      else sendError(reply, 401, 'unauthorized', 'the credential is missing or wrong');
    });
    followBehaviours(routes, this.slowMs);
    routes.addHook('preHandler', (request, reply, next) => {
      const fault = this.nextFault;
      // Outcomes of earlier calls can be read at any time.
      if (fault === null || request.method !== 'POST') {
        next();
        return;
      }
      this.nextFault = null;
      misbehave(request, reply, fault);
    });
  }

  mountControls(server: FastifyInstance, prefix: string): void {
    server.get<{ Querystring: { key?: string } }>(`${prefix}/calls`, { schema: CALLS }, (request, reply) => {
      const { key } = request.query;
      return reply.send(key === undefined ? this.record.allCounts() : { key, ...this.record.countsOf(key) });
    });
    type Outage = { seconds: number; retryAfter?: number };
    server.post<{ Body: Outage }>(`${prefix}/outage`, { schema: OUTAGE }, (request, reply) => {
      this.outageEnds = this.now() + request.body.seconds * 1_000;
      this.retryAfter = request.body.retryAfter;
      return reply.send({ until: new Date(this.outageEnds).toISOString() });
    });
    server.post<{ Body: { fault: Fault } }>(`${prefix}/fault`, { schema: FAULT }, (request, reply) => {
      this.nextFault = request.body.fault;
      return reply.send({ fault: this.nextFault });
    });
    server.post<{ Body: { calls: number } }>(`${prefix}/lost-answers`, { schema: LOST_ANSWERS }, (request, reply) => {
      this.answersToLose = request.body.calls;
      return reply.send({ calls: this.answersToLose });
    });
  }

  outage(): boolean {
    return this.now() < this.outageEnds;
  }

  /** Executes a call with an unused key. For a used key the method repeats the first answer, or refuses a different call under this key. */
  async run(request: FastifyRequest, reply: FastifyReply, call: Call<Operation, Effect>): Promise<FastifyReply> {
    const key = keyOf(request);
    if (key === null)
      return sendError(
        reply,
        400,
        'idempotency_key_required',
        'every POST needs an Idempotency-Key of up to 255 visible characters',
      );
    const { record } = this;
    const complete = call.complete ?? ((answer: Answer): Answer => answer);
    record.receive(key, call.operation);
    if (this.outage()) {
      await record.kept();
      return down(reply);
    }
    const digest = record.digestOf(call.operation, ...call.content);
    const past = record.call(key);
    switch (past.state) {
      case 'executed':
        await record.kept();
        if (past.digest !== digest)
          return sendError(reply, 409, 'idempotency_key_reused', 'this key belongs to another call');
        return send(reply.header('idempotent-replayed', 'true'), complete(past.answer));
      case 'in-progress':
        await record.kept();
        return sendError(reply, 409, 'call_in_progress', 'the call with this key has not been answered yet');
      case 'closed':
        await record.kept();
        return sendError(
          reply,
          409,
          'key_closed',
          'the call with this key was reported as not executed and never will be',
        );
      case 'unknown':
        break;
      default:
        past satisfies never;
    }
    record.begin(key);
    if (call.delayMs) {
      await record.kept();
      await new Promise<void>((resolve) => this.after(call.delayMs ?? 0, resolve));
    }
    const result = call.execute(key);
    if ('fault' in result) {
      if (result.fault === 'silent') this.after(this.silentMs, () => record.giveUp(key));
      else record.giveUp(key);
      await record.kept();
      return misbehave(request, reply, result.fault);
    }
    const answer = complete(result.answer);
    record.finish(key, { operation: call.operation, digest, ...result }, answer);
    await record.kept();
    if (this.answersToLose > 0) {
      this.answersToLose -= 1;
      return cutOff(request, reply);
    }
    return send(reply, answer);
  }

  close(): void {
    for (const timer of this.timers) clearTimeout(timer);
  }

  private mayCall(authorization: string | undefined): boolean {
    const shown = Buffer.from(authorization ?? '');
    return shown.length === this.credential.length && timingSafeEqual(shown, this.credential);
  }

  /** Drops delayed actions at the end, because a stopped vendor executes nothing. */
  private after(delayMs: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      action();
    }, delayMs);
    this.timers.add(timer);
  }
}

function keyOf(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key'];
  return typeof key === 'string' && KEY.test(key) ? key : null;
}

export function down(reply: FastifyReply): FastifyReply {
  return sendError(reply, 503, 'service_unavailable', 'the service is down; nothing was executed');
}

export function send(reply: FastifyReply, answer: Answer): FastifyReply {
  return reply.code(answer.status).type('application/json').send(JSON.stringify(answer.body));
}

function misbehave(request: FastifyRequest, reply: FastifyReply, fault: Fault): FastifyReply {
  switch (fault) {
    case 'down':
      return down(reply);
    case 'reset':
      return cutOff(request, reply);
    case 'redirect':
      return reply
        .code(302)
        .header('location', '/identity/login')
        .type('text/html')
        .send('<!doctype html><title>Log in</title>');
    case 'garbled':
      return reply.code(200).type('application/json').send('{"success":true,"userAuthenticated":true,"UserToken":"ut_');
    case 'silent':
      return reply.hijack();
    default:
      return fault satisfies never;
  }
}

/**
 * Follows the behaviour that a call requests in `X-Test-Behaviour`. A call that fails for this reason is not executed, and its key stays unused.
 * Calls without the header, or with an unknown word, are answered as usual.
 */
export function followBehaviours(routes: FastifyInstance, slowMs = SLOW_MS): void {
  routes.addHook('preHandler', (request, reply, next) => {
    const wanted = request.headers['x-test-behaviour'];
    const fault = FAULTS.find((known) => known === wanted);
    // Outcomes of earlier calls can be read, unless the vendor is down.
    const isMet = fault === 'down' || request.method === 'POST';
    if (wanted === 'slow') setTimeout(next, slowMs).unref();
    else if (fault === undefined || !isMet) next();
    else misbehave(request, reply, fault);
  });
}

/** Resets the connection after the request was read. */
function cutOff(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack();
  request.raw.socket.resetAndDestroy();
  return reply;
}
