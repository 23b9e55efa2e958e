// The identity and credit vendor as a part of the sandbox: its HTTP interface (docs/sandbox.md).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from '../../../vendor-kit/double/call-record.js';
import type { SandboxPart } from '../../../vendor-kit/double/sandbox-part.js';
import { VendorCalls, down, send } from '../../../vendor-kit/double/vendor-calls.js';
import {
  type Method,
  type Moment,
  expire,
  judge,
  lifted,
  offers,
  pullReport,
  reauthenticate,
  refusal,
  refusalToAuthenticate,
  register,
  resend,
  standing,
} from './decisions.js';
import { type Persona, personaNamed, personaOf } from './personas.js';
import { type Effect, type Operation, VendorRecord } from './record.js';
import { type Details, detailsOf } from './person-tokens.js';
import { objectionTo } from './registration-data.js';
import { type ReportBody, withDetails } from './report.js';
import * as requests from './requests.js';
import { RIGHT_OTP_CODE, answersEveryQuestion, isRight } from './step-up.js';
import { subjectOf } from './subject.js';

export interface SandboxIdentityVendorOptions {
  /** The folder of the journal. */
  readonly folder: string;
  /** The bearer credential that callers must send. */
  readonly credential: string;
  /** The number of wrong answers that locks a session. The default is 3. */
  readonly attempts?: number;
  /** The milliseconds for which an authentication is valid. The default is 365 days. */
  readonly authenticationMs?: number;
  /** The milliseconds before the answer for a slow person. The default is 2,000. */
  readonly slowMs?: number;
  /** The milliseconds after which a call without an answer counts as not executed. The default is 60,000. */
  readonly silentMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Receives each acceptable registration and its idempotency key. */
  readonly onRegistration?: (key: string, body: requests.RegistrationBody) => void;
}

type SessionRequest<Body> = FastifyRequest<{ Params: { token: string }; Body: Body }>;

const INPUT_VALIDATION = 708;
const INVALID_REQUEST = 1004;
const USER_NOT_FOUND = 1010;

export class SandboxIdentityVendor implements SandboxPart {
  private readonly record: VendorRecord;
  private readonly calls: VendorCalls<Operation, Effect>;
  private readonly attempts: number;
  private readonly authenticationMs: number;
  private readonly slowMs: number;

  constructor(private readonly options: SandboxIdentityVendorOptions) {
    this.record = new VendorRecord(options.folder);
    this.calls = new VendorCalls(this.record, options);
    this.attempts = options.attempts ?? 3;
    this.authenticationMs = options.authenticationMs ?? 365 * 86_400_000;
    this.slowMs = options.slowMs ?? 2_000;
  }

  mount(server: FastifyInstance): void {
    server.register(
      (identity, _options, done) => {
        this.calls.guard(identity);
        identity.post<{ Body: requests.RegistrationBody }>(
          '/registrations',
          { schema: requests.REGISTRATION },
          (request, reply) => this.register(request, reply),
        );
        identity.post(
          '/sessions/:token/otp',
          { schema: requests.OTP },
          (request: SessionRequest<requests.OtpBody>, reply) => {
            return this.answer(request, reply, 'otp', request.body.code === RIGHT_OTP_CODE);
          },
        );
        identity.post(
          '/sessions/:token/otp/resend',
          { schema: requests.OTP_RESEND },
          (request: SessionRequest<object>, reply) => this.resend(request, reply),
        );
        identity.post(
          '/sessions/:token/kba',
          { schema: requests.KBA },
          (request: SessionRequest<requests.KbaBody>, reply) => {
            const { answers } = request.body;
            if (!answersEveryQuestion(answers)) return send(reply, refusal(INPUT_VALIDATION));
            return this.answer(request, reply, 'kba', isRight(answers));
          },
        );
        identity.post<{ Body: requests.AuthenticationBody }>(
          '/authentications',
          { schema: requests.AUTHENTICATION },
          (request, reply) => this.reauthenticate(request, reply),
        );
        identity.post<{ Body: requests.PersonBody }>(
          '/authentications/status',
          { schema: requests.PERSON },
          (request, reply) => this.standing(request.body.userToken, reply),
        );
        identity.post<{ Body: requests.PersonBody }>(
          '/authentications/expire',
          { schema: requests.PERSON },
          (request, reply) => this.expire(request, reply),
        );
        identity.get<{ Params: { key: string } }>('/outcomes/:key', { schema: requests.OUTCOME }, (request, reply) =>
          this.outcome(request.params.key, reply),
        );
        done();
      },
      { prefix: '/identity/v1' },
    );
    server.register(
      (credit, _options, done) => {
        this.calls.guard(credit);
        credit.post<{ Body: requests.ReportBody }>('/reports', { schema: requests.REPORT }, (request, reply) =>
          this.report(request, reply),
        );
        done();
      },
      { prefix: '/credit/v1' },
    );
    server.get('/identity/login', (_request, reply) =>
      reply
        .type('text/html')
        .send('<!doctype html><title>Log in</title><form method="post"><input name="user"></form>'),
    );
    this.calls.mountControls(server, '/control');
    server.post<{ Body: requests.LiftedFreezeBody }>(
      '/control/lift-freeze',
      { schema: requests.LIFTED_FREEZE },
      (request, reply) => this.liftFreeze(request.body.ssn ?? null, reply),
    );
  }

  /** The person or session of a token, for the sandbox's other vendors; null for an unknown token. */
  personOf(token: string): { readonly persona: string; readonly file: number } | null {
    const known = this.record.person(token) ?? this.record.session(token);
    return known === null ? null : { persona: known.persona, file: known.subject.file };
  }

  close(): void {
    this.calls.close();
    this.record.shut();
  }

  private register(
    request: FastifyRequest<{ Body: requests.RegistrationBody }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> | FastifyReply {
    const { body } = request;
    const objection = objectionTo(body, new Date(this.calls.now()));
    if (objection !== null) return send(reply, refusal(objection.code, objection.field));
    const persona = personaOf(body);
    return this.calls.run(request, reply, {
      operation: 'registration',
      content: [JSON.stringify(body)],
      delayMs: this.delayFor(persona),
      execute: (reference) => {
        this.options.onRegistration?.(reference, body);
        const moment = this.momentOf(reference);
        const subject = subjectOf(body, (ssn) => this.record.digestOf(ssn));
        if (persona.behaviour !== 'fault') return register(persona, subject, moment);
        if (persona.fault !== 'down-once') return { fault: persona.fault };
        const { firstName, lastName, dateOfBirth, ssn, phone } = body;
        const person = [firstName, lastName, dateOfBirth, ssn, phone?.number].map((part = '') => part.toLowerCase());
        if (this.record.turnAwayOnce(this.record.digestOf(...person))) return { fault: 'down' };
        return register({ name: persona.name, behaviour: 'confirm' }, subject, moment);
      },
      complete: (answer) => this.record.completed(answer, detailsOf(body)),
    });
  }

  private answer(
    request: SessionRequest<object>,
    reply: FastifyReply,
    operation: Method,
    right: boolean,
  ): Promise<FastifyReply> | FastifyReply {
    const { token } = request.params;
    if (!offers(this.record.session(token), operation)) return send(reply, refusal(INPUT_VALIDATION));
    const content = [token, JSON.stringify(request.body)];
    return this.calls.run(request, reply, {
      operation,
      content,
      execute: (reference) => judge(this.record.session(token), right, this.attempts, this.momentOf(reference)),
      complete: (answer) => this.record.completed(answer),
    });
  }

  private resend(request: SessionRequest<object>, reply: FastifyReply): Promise<FastifyReply> | FastifyReply {
    const { token } = request.params;
    if (!offers(this.record.session(token), 'otp')) return send(reply, refusal(INPUT_VALIDATION));
    return this.calls.run(request, reply, {
      operation: 'otp-resend',
      content: [token],
      execute: (reference) => resend(this.record.session(token), this.momentOf(reference)),
    });
  }

  private reauthenticate(
    request: FastifyRequest<{ Body: requests.AuthenticationBody }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> | FastifyReply {
    const { body } = request;
    const person = this.record.person(body.userToken);
    // When an organization authenticates again, no person uses a device (`GET /api/idv/organizations/{id}/auth`).
    const field = requests.unusableField(body, person === null || person.subject.userType === 'PMC');
    if (field !== null) return send(reply, refusalToAuthenticate(INVALID_REQUEST, field));
    return this.calls.run(request, reply, {
      operation: 'reauthentication',
      content: [JSON.stringify(body)],
      delayMs: person === null ? 0 : this.delayFor(personaNamed(person.persona)),
      execute: (reference) =>
        person === null
          ? { answer: refusalToAuthenticate(USER_NOT_FOUND) }
          : reauthenticate(person, this.momentOf(reference)),
      complete: (answer) => this.record.completed(answer, this.record.detailsIn(body.userToken)),
    });
  }

  /** A query, which changes nothing and needs no key. */
  private standing(userToken: string, reply: FastifyReply): FastifyReply {
    if (this.calls.outage()) return down(reply);
    const person = this.record.person(userToken);
    return send(
      reply,
      person === null ? refusal(USER_NOT_FOUND) : standing(person, this.calls.now(), this.authenticationMs),
    );
  }

  private expire(request: FastifyRequest<{ Body: requests.PersonBody }>, reply: FastifyReply): Promise<FastifyReply> {
    const { userToken } = request.body;
    return this.calls.run(request, reply, {
      operation: 'expiry',
      content: [userToken],
      execute: () => {
        const person = this.record.person(userToken);
        return person === null ? { answer: refusal(USER_NOT_FOUND) } : expire(person);
      },
    });
  }

  private momentOf(reference: string): Moment {
    return { now: this.calls.now(), reference };
  }

  private report(request: FastifyRequest<{ Body: requests.ReportBody }>, reply: FastifyReply): Promise<FastifyReply> {
    const token = request.body.session;
    const person = this.record.person(token);
    const details = this.record.detailsIn(token);
    return this.calls.run(request, reply, {
      operation: 'report',
      content: [token],
      delayMs: person === null ? 0 : this.delayFor(personaNamed(person.persona)),
      execute: () => pullReport(person, this.record.session(token), details?.bornOn ?? null, this.calls.now()),
      complete: (answer) => completedReport(answer, details),
    });
  }

  private async liftFreeze(ssn: string | null, reply: FastifyReply): Promise<FastifyReply> {
    const persons = this.record.personsWith(ssn).flatMap((person) => lifted(person) ?? []);
    for (const person of persons) this.record.note({ person });
    await this.record.kept();
    return reply.send({ lifted: persons.length });
  }

  private delayFor(persona: Persona): number {
    return persona.behaviour === 'confirm' && persona.slow ? this.slowMs : 0;
  }

  private async outcome(key: string, reply: FastifyReply): Promise<FastifyReply> {
    if (this.calls.outage()) return down(reply);
    const past = this.record.call(key);
    if (past.state === 'executed') {
      const { operation, answer } = past;
      return reply.send({
        state: 'executed',
        operation,
        answer: { status: answer.status, body: JSON.stringify(answer.body) },
      });
    }
    if (past.state === 'in-progress') return reply.send({ state: 'in-progress' });
    this.record.close(key);
    await this.record.kept();
    return reply.send({ state: 'not-executed' });
  }
}

function completedReport(answer: Answer, details: Details | null): Answer {
  if (details === null || answer.status !== 200) return answer;
  return { ...answer, body: withDetails(answer.body as ReportBody, details) };
}
