// acme as a part of the sandbox: tokens, verifications that are polled, reports, and the controls for tests.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Answer, CallRecord, type Execution } from '../../../vendor-kit/double/call-record.js';
import type { SandboxPart } from '../../../vendor-kit/double/sandbox-part.js';
import { followBehaviours } from '../../../vendor-kit/double/vendor-calls.js';
import {
  type IncomeCheck,
  UNNAMED,
  acted,
  checkBody,
  checkState,
  connectPage,
  newCheck,
  newLink,
} from './income-checks.js';
import { type NoticeReceiver, Notices } from './notices.js';
import { personaNamed } from './personas.js';
import { Problem, problemBody, sendProblem } from './problems.js';
import { type Consumer, type Report, consumerOf, fileOf, reportBody } from './reports.js';
import * as requests from './requests.js';
import { Tokens } from './tokens.js';
import { type Understood, understoodCheck, understoodReport, understoodVerification } from './understood.js';
import { type Given, type Verification, checkOpen, judge, stateOf, verificationBody } from './verifications.js';

export interface AcmeDoubleOptions {
  /** The folder of the journal. */
  readonly folder: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The milliseconds for which an access token is valid. The default is five minutes. */
  readonly tokenMs?: number;
  /** The pause in seconds that an unfinished request demands; null if it demands none. The default is 1. */
  readonly retryAfter?: number | null;
  /** The milliseconds that a slow verification takes. The default is 2,000. */
  readonly slowMs?: number;
  /** The milliseconds for which nothing is answered about a verification that hangs. The default is 30,000. */
  readonly hangsMs?: number;
  /** The address of the pages for persons, as browsers reach it. The default is the address of the request. */
  readonly pagesUrl?: string;
  /** The receiver of the notices about decisions; null if the service gets none. */
  readonly notices?: NoticeReceiver | null;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const OPERATIONS = ['verification', 'code', 'code_resend', 'answers', 'report', 'income_check'] as const;
type Operation = (typeof OPERATIONS)[number];
type Effect = { readonly verification: Verification } | { readonly report: Report } | { readonly check: IncomeCheck };
type Body<Content> = FastifyRequest<{ Params: { id: string }; Body: Content }>;
type Trouble = { readonly status: 429 | 503; readonly seconds: number; readonly retryAfter?: number };

interface Call {
  readonly operation: Operation;
  readonly execute: (key: string) => Execution<Effect>;
}

const UNDERSTOOD_REQUESTS = 1_000;

export class AcmeDouble implements SandboxPart {
  private readonly record: CallRecord<Operation, Effect>;
  private readonly verifications = new Map<string, Verification>();
  private readonly reports = new Map<string, Report>();
  private readonly checks = new Map<string, IncomeCheck>();
  private readonly consumers = new Map<string, Consumer>();
  private readonly understandings = new Map<string, Understood>();
  private readonly told = new Set<string>();
  private readonly tokens: Tokens;
  private readonly notices: Notices;
  private readonly retryAfter: number | null;
  private readonly pagesUrl: string;
  private readonly pace: { readonly slowMs: number; readonly hangsMs: number };
  private readonly now: () => number;
  /** The milliseconds by which tests have turned the clock of the double. */
  private turned = 0;
  private trouble: { readonly problem: Problem; readonly until: number } | null = null;

  constructor(options: AcmeDoubleOptions) {
    const { folder, clientId, clientSecret, now = Date.now } = options;
    this.now = () => now() + this.turned;
    this.record = new CallRecord(join(folder, 'acme.jsonl'), OPERATIONS, (effect) => this.take(effect), [
      'report',
      'income_check',
    ]);
    this.tokens = new Tokens({ id: clientId, secret: clientSecret }, options.tokenMs ?? 300_000, this.now);
    // Receivers refuse signatures of another time, also while tests turn the clock of the double.
    this.notices = new Notices(options.notices ?? null, now);
    this.retryAfter = options.retryAfter === undefined ? 1 : options.retryAfter;
    this.pagesUrl = options.pagesUrl ?? '';
    this.pace = { slowMs: options.slowMs ?? 2_000, hangsMs: options.hangsMs ?? 30_000 };
  }

  /** The double's understanding of the request with this idempotency key, in the words of the applicant; null for an unknown key. */
  understood(key: string): Understood | null {
    return this.understandings.get(key) ?? null;
  }

  mount(server: FastifyInstance): void {
    this.mountBelow(server, '/oauth', (oauth) => {
      oauth.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, text, next) =>
        next(null, new URLSearchParams(String(text))),
      );
      oauth.post('/token', (request, reply) => this.tokens.issue(request, reply));
    });
    this.mountBelow(server, '/v1', (routes) => this.mountRoutes(routes));
    this.mountBelow(server, '/connect', (routes) => this.mountPages(routes));
    server.register((routes, _options, done) => (this.mountControls(routes), done()), { prefix: '/control' });
  }

  close(): void {
    this.notices.close();
    this.record.shut();
  }

  private mountBelow(server: FastifyInstance, prefix: string, mount: (scope: FastifyInstance) => void): void {
    server.register(
      (scope, _options, done) => {
        speakInProblems(scope);
        scope.addHook('onRequest', (_request, _reply, next) => {
          const { trouble } = this;
          next(trouble !== null && this.now() < trouble.until ? trouble.problem : undefined);
        });
        mount(scope);
        done();
      },
      { prefix },
    );
  }

  private mountRoutes(routes: FastifyInstance): void {
    routes.addHook('onRequest', (request, _reply, next) => {
      requests.checkHeaders(request.headers);
      next(this.tokens.isValid(request.headers.authorization) ? undefined : new Problem('token_invalid'));
    });
    followBehaviours(routes, this.pace.slowMs);
    routes.post(
      '/verifications',
      { schema: requests.VERIFICATION },
      (request: Body<requests.VerificationBody>, reply) => this.verify(request, reply),
    );
    routes.get('/verifications/:id', { schema: requests.READ }, (request: Body<unknown>, reply) =>
      this.tellVerification(request, reply),
    );
    routes.post('/verifications/:id/code', { schema: requests.CODE }, (request: Body<requests.CodeBody>, reply) =>
      this.answer(request, reply, 'code', request.body),
    );
    routes.post(
      '/verifications/:id/answers',
      { schema: requests.ANSWERS },
      (request: Body<requests.AnswersBody>, reply) => this.answer(request, reply, 'answers', request.body),
    );
    routes.post('/verifications/:id/code/resend', { schema: requests.RESEND }, (request: Body<object>, reply) =>
      this.run(request, reply, {
        operation: 'code_resend',
        execute: () => {
          checkOpen(this.verification(request), this.now(), 'one_time_code');
          return { answer: { status: 200, body: { sent: true } } };
        },
      }),
    );
    this.mountChecks(routes);
    routes.get('/requests/:id', { schema: requests.READ }, (request: Body<unknown>, reply) =>
      this.tellOutcome(request, reply),
    );
    routes.post('/reports', { schema: requests.REPORT }, (request: Body<requests.ReportRequestBody>, reply) =>
      this.order(request, reply),
    );
    routes.get('/reports/:id', { schema: requests.READ }, (request: Body<unknown>, reply) => {
      const report = this.reports.get(request.params.id);
      if (report === undefined) throw new Problem('not_found');
      if (this.isAssembling(report)) return this.unfinished(reply).send({ id: report.id, state: 'assembling' });
      return reply.send(reportBody(report, this.consumers.get(report.id) ?? null));
    });
  }

  private mountChecks(routes: FastifyInstance): void {
    routes.post('/income-checks', { schema: requests.CHECK }, (request: Body<requests.CheckBody>, reply) => {
      const { person, source, reference = null } = request.body;
      return this.run(request, reply, {
        operation: 'income_check',
        execute: (key) => {
          this.understand(key, understoodCheck(request.body));
          if (person !== undefined) requests.checkPerson(person, this.today());
          const persona = person === undefined ? UNNAMED : personaNamed(person.family_name).name;
          const file = person === undefined ? 0 : fileOf(person);
          const check = newCheck({ id: newId('inc'), persona, source, reference, file }, this.now());
          const body = { id: check.id, state: this.stateOfCheck(check) };
          return { billed: true, effect: { check }, answer: { status: 201, body } };
        },
      });
    });
    routes.get('/income-checks/:id', { schema: requests.READ }, (request: Body<unknown>, reply) => {
      const check = this.checks.get(request.params.id);
      if (check === undefined) throw new Problem('not_found');
      return reply.send(checkBody(check, this.stateOfCheck(check), this.pagesFor(request)));
    });
  }

  /** The pages on which persons act. The token in the address admits a person to one round. */
  private mountPages(pages: FastifyInstance): void {
    pages.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, _text, next) =>
      next(null, {}),
    );
    const openChecks = (): readonly IncomeCheck[] =>
      [...this.checks.values()].filter((check) => this.stateOfCheck(check) === 'awaiting_person');
    const openVerifications = (): readonly Verification[] =>
      [...this.verifications.values()].filter(({ id }) => this.stateOf(id) === 'awaiting_person');
    const show = (reply: FastifyReply, button: string | null): FastifyReply =>
      reply.type('text/html; charset=utf-8').send(connectPage(button));
    const find = ({ params: { id: token } }: Body<unknown>) => ({
      check: openChecks().find(({ link }) => link.token === token),
      verification: openVerifications().find(({ link }) => link?.token === token),
    });
    pages.get('/:id', (request: Body<unknown>, reply) => {
      const { check, verification } = find(request);
      if (check !== undefined) return show(reply, check.rounds > 1 ? 'Log in' : 'Share my income');
      return show(reply, verification === undefined ? null : 'Show my document');
    });
    pages.post('/:id', async (request: Body<unknown>, reply) => {
      const { check, verification } = find(request);
      const subject = request.params.id;
      if (check !== undefined) {
        this.record.note({ check: acted(check, this.now()) });
        await this.record.kept();
        await this.notices.tell({ subject, type: 'income_check.moved', reference: check.reference });
      }
      if (verification !== undefined) {
        this.record.note({ verification: { ...verification, decided: 'approved' } });
        await this.record.kept();
        await this.notices.tell({ subject, type: 'verification.moved', reference: verification.reference });
      }
      return show(reply, null);
    });
  }

  private pagesFor({ url, protocol, host }: FastifyRequest): string {
    const [below = ''] = url.split('/v1/');
    return this.pagesUrl || `${protocol}://${host}${below}`;
  }

  private stateOfCheck(check: IncomeCheck): ReturnType<typeof checkState> {
    return checkState(check, this.now(), this.pace.slowMs);
  }

  private mountControls(routes: FastifyInstance): void {
    routes.get('/calls', (_request, reply) => reply.send({ ...this.record.allCounts(), tokens: this.tokens.issued }));
    routes.get('/verifications', (_request, reply) => {
      const all = [...this.verifications.values()];
      return reply.send({ verifications: all.map(({ id }) => ({ id, state: this.stateOf(id) })) });
    });
    routes.post('/trouble', { schema: requests.TROUBLE }, (request: Body<Trouble>, reply) => {
      const { status, seconds, retryAfter } = request.body;
      const problem = new Problem(status === 429 ? 'rate_limited' : 'overloaded', {}, retryAfter);
      this.trouble = { problem, until: this.now() + seconds * 1_000 };
      return reply.send({ until: new Date(this.trouble.until).toISOString() });
    });
    routes.post('/revocation', { schema: requests.NOTHING }, (_request, reply) => {
      this.tokens.revoke();
      return reply.send({});
    });
    routes.post('/clock', { schema: requests.CLOCK }, async (request: Body<{ seconds: number }>, reply) => {
      this.turned += request.body.seconds * 1_000;
      const decided = [...this.verifications.values()].filter(
        ({ id, persona }) => personaNamed(persona).is === 'reviewed' && this.stateOf(id) !== 'manual_review',
      );
      for (const one of decided) if (!this.told.has(one.id)) await this.tell(one);
      return reply.send({ now: new Date(this.now()).toISOString() });
    });
    type Decision = { readonly decision: 'approved' | 'declined' };
    const decision = '/verifications/:id/decision';
    routes.post(decision, { schema: requests.DECISION }, async (request: Body<Decision>, reply) => {
      const verification = this.verification(request);
      if (this.stateOf(verification.id) !== 'manual_review')
        return reply.code(409).send({ error: { code: 'not_under_review', message: 'people decide reviews only' } });
      this.record.note({ verification: { ...verification, decided: request.body.decision } });
      await this.record.kept();
      return reply.send({ notice: await this.tell(verification) });
    });
    routes.post('/verifications/:id/notice', { schema: requests.NOTHING }, async (request: Body<object>, reply) =>
      reply.send({ notice: await this.tell(this.verification(request)) }),
    );
  }

  private async verify(request: Body<requests.VerificationBody>, reply: FastifyReply): Promise<FastifyReply> {
    const { person, device, reference = null } = request.body;
    const persona = personaNamed(person.family_name);
    if (persona.is === 'refused') throw new Problem(persona.status === 429 ? 'rate_limited' : 'overloaded', {}, 7);
    if (persona.is === 'unanswered') return reply.hijack();
    return this.run(request, reply, {
      operation: 'verification',
      execute: (key) => {
        this.understand(key, understoodVerification(request.body));
        requests.checkPerson(person, this.today());
        requests.checkDevice(device);
        const id = newId('ver');
        const verification: Verification = {
          id,
          persona: persona.name,
          reference,
          startedAt: this.now(),
          wrongAnswers: 0,
          lockedUntil: null,
          decided: null,
          ...(persona.is === 'documented' && { link: newLink(this.now()) }),
        };
        return { billed: true, effect: { verification }, answer: { status: 202, body: { id, state: 'processing' } } };
      },
    });
  }

  private order(request: Body<requests.ReportRequestBody>, reply: FastifyReply): Promise<FastifyReply> {
    const { person } = request.body;
    return this.run(request, reply, {
      operation: 'report',
      execute: (key) => {
        this.understand(key, understoodReport(request.body));
        requests.checkPerson(person, this.today());
        const persona = personaNamed(person.family_name).name;
        const report: Report = { id: newId('rep'), persona, file: fileOf(person), orderedAt: this.now() };
        this.consumers.set(report.id, consumerOf(person));
        return {
          billed: true,
          effect: { report },
          answer: { status: 202, body: { id: report.id, state: 'assembling' } },
        };
      },
    });
  }

  private answer(
    request: Body<unknown>,
    reply: FastifyReply,
    operation: 'code' | 'answers',
    given: Given,
  ): Promise<FastifyReply> {
    return this.run(request, reply, {
      operation,
      execute: () => {
        const { verification, answer } = judge(this.verification(request), given, this.now());
        return { effect: { verification }, answer };
      },
    });
  }

  private tellVerification(request: Body<unknown>, reply: FastifyReply): FastifyReply {
    const verification = this.verification(request);
    const state = stateOf(verification, this.now(), this.pace);
    if (state === 'hangs') return reply.hijack();
    if (state === 'processing') this.unfinished(reply);
    return reply.send(verificationBody(verification, state, this.pagesFor(request)));
  }

  /** The outcome of the request with a key. The answer of an unknown key reserves nothing: a request that is still on its way is executed later. */
  private tellOutcome(request: Body<unknown>, reply: FastifyReply): FastifyReply {
    const past = this.record.call(request.params.id);
    if (past.state !== 'executed') throw new Problem('key_unknown');
    return reply.send({ operation: past.operation, answer: past.answer });
  }

  /** Executes a request with an unused key. Repeats the first answer for a used key, or refuses a different request under this key. */
  private async run(request: FastifyRequest, reply: FastifyReply, call: Call): Promise<FastifyReply> {
    const key = requests.keyOf(request.headers);
    const { record } = this;
    record.receive(key, call.operation);
    const digest = record.digestOf(call.operation, request.url, JSON.stringify(request.body));
    const past = record.call(key);
    if (past.state !== 'executed') {
      const execution = executed(() => call.execute(key));
      record.finish(key, { operation: call.operation, digest, ...execution }, execution.answer);
      await record.kept();
      return this.send(request, reply, execution.answer);
    }
    await record.kept();
    if (past.digest !== digest) throw new Problem('idempotency_key_reused');
    return this.send(request, reply.header('idempotent-replayed', 'true'), past.answer);
  }

  private unfinished(reply: FastifyReply): FastifyReply {
    return this.retryAfter === null ? reply : reply.header('retry-after', this.retryAfter);
  }

  private send({ url }: FastifyRequest, reply: FastifyReply, { status, body }: Answer): FastifyReply {
    if (status === 202 && typeof body === 'object' && 'id' in body)
      void this.unfinished(reply).header('location', `${url}/${String(body.id)}`);
    const type = status < 400 ? 'application/json' : 'application/problem+json';
    return reply.code(status).type(type).send(JSON.stringify(body));
  }

  private async tell({ id, reference }: Verification): Promise<number | null> {
    this.told.add(id);
    return this.notices.tell({ subject: id, type: 'verification.decided', reference });
  }

  private take(effect: Effect): void {
    if ('report' in effect) this.reports.set(effect.report.id, effect.report);
    else if ('check' in effect) this.checks.set(effect.check.id, effect.check);
    else this.verifications.set(effect.verification.id, effect.verification);
  }

  private understand(key: string, understood: Understood): void {
    this.understandings.set(key, understood);
    const [oldest] = this.understandings.keys();
    if (oldest !== undefined && this.understandings.size > UNDERSTOOD_REQUESTS) this.understandings.delete(oldest);
  }

  private verification({ params }: Body<unknown>): Verification {
    const verification = this.verifications.get(params.id);
    if (verification === undefined) throw new Problem('not_found');
    return verification;
  }

  private stateOf(id: string): string {
    const verification = this.verifications.get(id);
    return verification === undefined ? 'unknown' : stateOf(verification, this.now(), this.pace);
  }

  private isAssembling({ persona: name, orderedAt }: Report): boolean {
    const persona = personaNamed(name);
    return persona.is === 'approved' && persona.pace === 'slow' && this.now() < orderedAt + this.pace.slowMs;
  }

  private today(): string {
    return new Date(this.now()).toISOString().slice(0, 10);
  }
}

/** The key of a request that acme refuses for its content is used: the same key gets the same refusal. */
function executed(execute: () => Execution<Effect>): Execution<Effect> {
  try {
    return execute();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const body = problemBody(error.code, error.facts);
    return { answer: { status: body.status, body } };
  }
}

/** Errors of the server, as the vendor tells them. */
function speakInProblems(acme: FastifyInstance): void {
  acme.setNotFoundHandler((_request, reply) => sendProblem(reply, new Problem('not_found')));
  acme.setErrorHandler((error: FastifyError | Problem, _request, reply) => {
    if (error instanceof Problem) return sendProblem(reply, error);
    const [violation] = error.validation ?? [];
    if (violation !== undefined) {
      const { missingProperty, additionalProperty } = violation.params;
      const field = [missingProperty, additionalProperty].find((name) => typeof name === 'string');
      const pointer = field === undefined ? violation.instancePath : `${violation.instancePath}/${field}`;
      return sendProblem(reply, new Problem('malformed_request', { pointer }));
    }
    if (error.statusCode === 415) return sendProblem(reply, new Problem('unsupported_media_type'));
    const isClients = (error.statusCode ?? 500) < 500;
    return sendProblem(reply, new Problem(isClients ? 'malformed_request' : 'internal_error'));
  });
}

function newId(kind: 'ver' | 'rep' | 'inc'): string {
  return `${kind}_${randomUUID().replaceAll('-', '')}`;
}
