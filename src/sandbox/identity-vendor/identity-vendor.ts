// The identity vendor as a part of the sandbox: its HTTP interface (docs/sandbox.md) and the controls for tests.
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type SandboxPart, sendError } from '../server.js';
import { type Method, judge, offers, refusal, register, resend } from './decisions.js';
import { type Fault, personaOf } from './personas.js';
import { type Answer, type Execution, type Operation, VendorRecord } from './record.js';
import * as requests from './requests.js';
import { RIGHT_OTP_CODE, answersEveryQuestion, isRight } from './step-up.js';

export interface SandboxIdentityVendorOptions {
  /** Where the journal lies. */
  readonly folder: string;
  /** The bearer credential that callers must show. */
  readonly credential: string;
  /** Milliseconds before a slow person is answered; default 2,000. */
  readonly slowMs?: number;
  /** Milliseconds until a call that is never answered counts as not executed; default 60,000. */
  readonly silentMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

interface Call {
  readonly operation: Operation;
  /** What makes two calls with one key the same call. */
  readonly content: readonly string[];
  readonly delayMs?: number;
  /** Run for an unused key only. After a fault nothing was executed and the key is free again. */
  readonly execute: () => Execution | { readonly fault: PassingFault };
}

type PassingFault = Exclude<Fault, 'down-once'>;
type SessionRequest<Body> = FastifyRequest<{ Params: { token: string }; Body: Body }>;

const KEY = /^[\x21-\x7e]{1,255}$/;
const INPUT_VALIDATION = 708;
const SSN_REQUIRED = 403;

export class SandboxIdentityVendor implements SandboxPart {
  private readonly record: VendorRecord;
  private readonly credential: Buffer;
  private readonly slowMs: number;
  private readonly silentMs: number;
  private readonly now: () => number;
  private readonly timers = new Set<NodeJS.Timeout>();
  private outageEnds = 0;
  private answersToLose = 0;

  constructor(options: SandboxIdentityVendorOptions) {
    this.record = new VendorRecord(options.folder);
    this.credential = Buffer.from(`Bearer ${options.credential}`);
    this.slowMs = options.slowMs ?? 2_000;
    this.silentMs = options.silentMs ?? 60_000;
    this.now = options.now ?? Date.now;
  }

  mount(server: FastifyInstance): void {
    server.register(
      (identity, _options, done) => {
        identity.addHook('onRequest', (request, reply, next) => {
          if (this.mayCall(request.headers.authorization)) next();
          else sendError(reply, 401, 'unauthorized', 'the credential is missing or wrong');
        });
        identity.post<{ Body: requests.RegistrationBody }>('/registrations', { schema: requests.REGISTRATION }, (request, reply) => this.register(request, reply));
        identity.post('/sessions/:token/otp', { schema: requests.OTP }, (request: SessionRequest<requests.OtpBody>, reply) => {
          return this.answer(request, reply, 'otp', request.body.code === RIGHT_OTP_CODE);
        });
        identity.post('/sessions/:token/otp/resend', { schema: requests.OTP_RESEND }, (request: SessionRequest<object>, reply) => this.resend(request, reply));
        identity.post('/sessions/:token/kba', { schema: requests.KBA }, (request: SessionRequest<requests.KbaBody>, reply) => {
          const { answers } = request.body;
          if (!answersEveryQuestion(answers)) return send(reply, refusal(INPUT_VALIDATION));
          return this.answer(request, reply, 'kba', isRight(answers));
        });
        identity.get<{ Params: { key: string } }>('/outcomes/:key', { schema: requests.OUTCOME }, (request, reply) => this.outcome(request.params.key, reply));
        done();
      },
      { prefix: '/identity/v1' },
    );
    server.get('/identity/login', (_request, reply) => reply.type('text/html').send('<!doctype html><title>Log in</title><form method="post"><input name="user"></form>'));
    this.mountControls(server);
  }

  close(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.record.shut();
  }

  private mountControls(server: FastifyInstance): void {
    server.get<{ Querystring: { key?: string } }>('/control/calls', { schema: requests.CALLS }, (request, reply) => {
      const { key } = request.query;
      return reply.send(key === undefined ? this.record.allCounts() : { key, ...this.record.countsOf(key) });
    });
    server.post<{ Body: { seconds: number } }>('/control/outage', { schema: requests.OUTAGE }, (request, reply) => {
      this.outageEnds = this.now() + request.body.seconds * 1_000;
      return reply.send({ until: new Date(this.outageEnds).toISOString() });
    });
    server.post<{ Body: { calls: number } }>('/control/lost-answers', { schema: requests.LOST_ANSWERS }, (request, reply) => {
      this.answersToLose = request.body.calls;
      return reply.send({ calls: this.answersToLose });
    });
  }

  private register(request: FastifyRequest<{ Body: requests.RegistrationBody }>, reply: FastifyReply): Promise<FastifyReply> | FastifyReply {
    const { body } = request;
    if (body.userType === 'CONSUMER' && body.ssn === undefined) return send(reply, refusal(SSN_REQUIRED));
    const persona = personaOf(body);
    return this.run(request, reply, {
      operation: 'registration',
      content: [JSON.stringify(body)],
      delayMs: persona.reaction === 'confirm' && persona.slow ? this.slowMs : 0,
      execute: () => {
        if (persona.reaction !== 'fault') return register(persona);
        if (persona.fault !== 'down-once') return { fault: persona.fault };
        const person = [body.firstName, body.lastName, body.dateOfBirth, body.ssn ?? '', body.phone.number].map((part) => part.toLowerCase());
        if (this.record.turnAwayOnce(this.record.digestOf(...person))) return { fault: 'down' };
        return register({ name: persona.name, reaction: 'confirm' });
      },
    });
  }

  private answer(request: SessionRequest<object>, reply: FastifyReply, operation: Method, right: boolean): Promise<FastifyReply> | FastifyReply {
    const { token } = request.params;
    if (!offers(this.record.session(token), operation)) return send(reply, refusal(INPUT_VALIDATION));
    const content = [token, JSON.stringify(request.body)];
    return this.run(request, reply, { operation, content, execute: () => judge(this.record.session(token), right, this.now()) });
  }

  private resend(request: SessionRequest<object>, reply: FastifyReply): Promise<FastifyReply> | FastifyReply {
    const { token } = request.params;
    if (!offers(this.record.session(token), 'otp')) return send(reply, refusal(INPUT_VALIDATION));
    return this.run(request, reply, { operation: 'otp-resend', content: [token], execute: () => resend(this.record.session(token), this.now()) });
  }

  /** Executes a call unless its key was used before; then the first answer is repeated, or the key's misuse is refused. */
  private async run(request: FastifyRequest, reply: FastifyReply, call: Call): Promise<FastifyReply> {
    const key = keyOf(request);
    if (key === null) return noKey(reply);
    const { record } = this;
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
        if (past.digest !== digest) return sendError(reply, 409, 'idempotency_key_reused', 'this key belongs to another call');
        return send(reply.header('idempotent-replayed', 'true'), past.answer);
      case 'in-progress':
        await record.kept();
        return sendError(reply, 409, 'call_in_progress', 'the call with this key has not been answered yet');
      case 'closed':
        await record.kept();
        return sendError(reply, 409, 'key_closed', 'the call with this key was reported as not executed and never will be');
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
    const result = call.execute();
    if ('fault' in result) {
      if (result.fault === 'silent') this.after(this.silentMs, () => record.giveUp(key));
      else record.giveUp(key);
      await record.kept();
      return misbehave(request, reply, result.fault);
    }
    record.execute(key, call.operation, digest, result);
    await record.kept();
    if (this.answersToLose > 0) {
      this.answersToLose -= 1;
      return cutOff(request, reply);
    }
    return send(reply, result.answer);
  }

  private async outcome(key: string, reply: FastifyReply): Promise<FastifyReply> {
    if (this.outage()) return down(reply);
    const past = this.record.call(key);
    if (past.state === 'executed') return reply.send({ state: 'executed', operation: past.operation, answer: past.answer });
    if (past.state === 'in-progress') return reply.send({ state: 'in-progress' });
    this.record.close(key);
    await this.record.kept();
    return reply.send({ state: 'not-executed' });
  }

  private outage(): boolean {
    return this.now() < this.outageEnds;
  }

  private mayCall(authorization: string | undefined): boolean {
    const shown = Buffer.from(authorization ?? '');
    return shown.length === this.credential.length && timingSafeEqual(shown, this.credential);
  }

  /** What is still waited for at the end is dropped: a stopped vendor executes nothing. */
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

function noKey(reply: FastifyReply): FastifyReply {
  return sendError(reply, 400, 'idempotency_key_required', 'every POST needs an Idempotency-Key of up to 255 visible characters');
}

function down(reply: FastifyReply): FastifyReply {
  return sendError(reply, 503, 'service_unavailable', 'the service is down; nothing was executed');
}

function misbehave(request: FastifyRequest, reply: FastifyReply, fault: PassingFault): FastifyReply {
  switch (fault) {
    case 'down':
      return down(reply);
    case 'reset':
      return cutOff(request, reply);
    case 'redirect':
      return reply.code(302).header('location', '/identity/login').type('text/html').send('<!doctype html><title>Log in</title>');
    case 'garbled':
      return reply.code(200).type('application/json').send('{"outcome":"confirmed","sessionToken":"vs_');
    case 'silent':
      return reply.hijack();
    default:
      return fault satisfies never;
  }
}

/** Resets the connection after the request was read. */
function cutOff(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack();
  request.raw.socket.resetAndDestroy();
  return reply;
}

function send(reply: FastifyReply, answer: Answer): FastifyReply {
  return reply.code(answer.status).send(answer.body);
}
