// The identity vendor over HTTP: what a worker runs for the `queued` adapter. Wire format in wire.ts.
import { Pool, buildConnector, errors } from 'undici';
import {
  type AnswerVerdict,
  type Applicant,
  IdentityVendor,
  type NoVerdict,
  type PastOutcome,
  type RegistrationVerdict,
  type ResendVerdict,
  type VendorCall,
} from '../../ports/identity-vendor.js';
import { type VendorAnswer, readAnswer, readOutcome, readRegistration, readResend, registrationBody, upstreamCode } from './wire.js';

export interface HttpIdentityVendorOptions {
  /** Address of the vendor; a path in it is kept as prefix. */
  readonly baseUrl: string;
  readonly credential: string;
  /** Milliseconds over the whole exchange: queueing for a connection, connecting, headers and body, and asking back after an ambiguous end. */
  readonly timeoutMs: number;
  /** Connections at most; default 128. */
  readonly connections?: number;
}

const API = '/identity/v1';
const MAX_RESPONSE_BYTES = 256 * 1_024;
/** Errors of a complete, but unusable answer. */
const UNUSABLE_ANSWER: readonly string[] = ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'UND_ERR_HEADERS_OVERFLOW'];

/** The connection was never made, so nothing was sent. */
class NotConnected extends Error {
  override readonly name = 'NotConnected';
}

/** How one operation's verdict is read: from the answer itself, or from what the vendor remembers (null: of another operation). */
interface Reading<Verdict> {
  readonly fromAnswer: (answer: VendorAnswer) => Verdict;
  readonly fromPast: (past: PastOutcome) => Verdict | null;
}

const REGISTRATION: Reading<RegistrationVerdict> = {
  fromAnswer: readRegistration,
  fromPast: (past) => (past.kind === 'registration' ? past.verdict : null),
};
const ANSWER: Reading<AnswerVerdict> = { fromAnswer: readAnswer, fromPast: (past) => (past.kind === 'answer' ? past.verdict : null) };
const RESEND: Reading<ResendVerdict> = { fromAnswer: readResend, fromPast: (past) => (past.kind === 'resend' ? past.verdict : null) };

type Exchange =
  | { readonly end: 'answered'; readonly answer: VendorAnswer }
  | { readonly end: 'unusable' }
  | { readonly end: 'not-sent' }
  /** Broken off, or garbled below HTTP, after the request may have been read. */
  | { readonly end: 'ambiguous' }
  | { readonly end: 'timed-out' };

interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/**
 * Sends a POST once and never again: after an ambiguous end it asks the vendor, within the same time limit, what became
 * of the attempt. Follows no redirect, reads 256 kB at most, keeps connections alive. Logs nothing.
 */
export class HttpIdentityVendor extends IdentityVendor {
  private readonly pool: Pool;
  private readonly prefix: string;
  private readonly authorization: string;
  private readonly timeoutMs: number;

  constructor(options: HttpIdentityVendorOptions) {
    super();
    const { origin, pathname } = new URL(options.baseUrl);
    this.prefix = pathname.replace(/\/+$/, '') + API;
    this.authorization = `Bearer ${options.credential}`;
    this.timeoutMs = options.timeoutMs;
    this.pool = new Pool(origin, {
      connections: options.connections ?? 128,
      pipelining: 1,
      connect: connector(Math.ceil(options.timeoutMs / 2)),
      // One timer of our own covers all of it; these would only count silence.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: MAX_RESPONSE_BYTES,
    });
  }

  override async register(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict> {
    return this.send(call, '/registrations', registrationBody(applicant), REGISTRATION);
  }

  override async verifyOtp(call: VendorCall, vendorSession: string, code: string): Promise<AnswerVerdict> {
    return this.send(call, `/sessions/${encodeURIComponent(vendorSession)}/otp`, { code }, ANSWER);
  }

  override async resendOtp(call: VendorCall, vendorSession: string): Promise<ResendVerdict> {
    return this.send(call, `/sessions/${encodeURIComponent(vendorSession)}/otp/resend`, {}, RESEND);
  }

  override async verifyKba(
    call: VendorCall,
    vendorSession: string,
    answers: readonly { readonly questionId: number; readonly answerId: number }[],
  ): Promise<AnswerVerdict> {
    const body = { answers: answers.map(({ questionId, answerId }) => ({ questionId, answerId })) };
    return this.send(call, `/sessions/${encodeURIComponent(vendorSession)}/kba`, body, ANSWER);
  }

  override async outcomeOf(call: VendorCall): Promise<PastOutcome> {
    return this.withinLimit((signal) => this.ask(call, signal));
  }

  /** Lets calls under way end, each within its time limit. */
  async close(): Promise<void> {
    await this.pool.close();
  }

  private send<Verdict>(call: VendorCall, path: string, body: object, reading: Reading<Verdict>): Promise<Verdict | NoVerdict> {
    const request: Request = {
      method: 'POST',
      path: this.prefix + path,
      headers: { ...this.headers(call), 'content-type': 'application/json', 'idempotency-key': call.attemptId },
      body: JSON.stringify(body),
    };
    return this.withinLimit(async (signal) => {
      const exchange = await this.exchange(request, signal);
      switch (exchange.end) {
        case 'answered':
          return fromGateway(exchange.answer) ? this.settle(call, reading, signal) : reading.fromAnswer(exchange.answer);
        case 'ambiguous':
          return this.settle(call, reading, signal);
        case 'unusable':
          return { kind: 'unintelligible' };
        case 'not-sent':
          return { kind: 'unavailable' };
        case 'timed-out':
          return { kind: 'timed-out' };
        default:
          return exchange satisfies never;
      }
    });
  }

  private async settle<Verdict>(call: VendorCall, reading: Reading<Verdict>, signal: AbortSignal): Promise<Verdict | NoVerdict> {
    const past = await this.ask(call, signal);
    if (past.kind === 'not-executed') return { kind: 'unavailable' };
    // Whatever kept us from learning it, the call may have been executed.
    return reading.fromPast(past) ?? { kind: 'timed-out' };
  }

  private async ask(call: VendorCall, signal: AbortSignal): Promise<PastOutcome> {
    const path = `${this.prefix}/outcomes/${encodeURIComponent(call.attemptId)}`;
    const exchange = await this.exchange({ method: 'GET', path, headers: this.headers(call), body: null }, signal);
    switch (exchange.end) {
      case 'answered':
        return fromGateway(exchange.answer) ? { kind: 'unavailable' } : readOutcome(exchange.answer);
      case 'ambiguous':
      case 'not-sent':
        return { kind: 'unavailable' };
      case 'unusable':
        return { kind: 'unintelligible' };
      case 'timed-out':
        return { kind: 'timed-out' };
      default:
        return exchange satisfies never;
    }
  }

  /** The pool lets an aborted request wait for a connection before it gives it up unsent; the limit does not wait for that. */
  private exchange(request: Request, signal: AbortSignal): Promise<Exchange> {
    return Promise.race([this.request(request, signal), whenAborted(signal)]);
  }

  private async request(request: Request, signal: AbortSignal): Promise<Exchange> {
    try {
      const response = await this.pool.request({ ...request, signal });
      const text = await response.body.text();
      return { end: 'answered', answer: { status: response.statusCode, body: parsed(text) } };
    } catch (error) {
      return signal.aborted ? { end: 'timed-out' } : endOf(error);
    }
  }

  private async withinLimit<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), this.timeoutMs);
    try {
      return await work(limit.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  private headers(call: VendorCall): Record<string, string> {
    return { authorization: this.authorization, accept: 'application/json', 'x-request-id': call.correlationId };
  }
}

function whenAborted(signal: AbortSignal): Promise<Exchange> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve({ end: 'timed-out' });
    else signal.addEventListener('abort', () => resolve({ end: 'timed-out' }), { once: true });
  });
}

/** Said by a gateway that lost sight of the vendor: nobody knows whether the call was executed. */
function fromGateway(answer: VendorAnswer): boolean {
  return (answer.status === 502 || answer.status === 504) && upstreamCode(answer) === null;
}

/** Marks whatever goes wrong before a connection stands; DNS, refusals, TLS and the limit for connecting alike. */
function connector(timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs });
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (error === null) callback(null, socket);
      else callback(new NotConnected('no connection to the identity vendor', { cause: error }), null);
    });
  };
}

function endOf(error: unknown): Exchange {
  // The pool is closed only when nothing is under way any more, so these two are about requests it never took.
  if (error instanceof errors.ClientClosedError || error instanceof errors.ClientDestroyedError) return { end: 'not-sent' };
  if (error instanceof NotConnected) return { end: 'not-sent' };
  if (error instanceof errors.InvalidArgumentError) throw error;
  if (error instanceof errors.UndiciError && UNUSABLE_ANSWER.includes(error.code)) return { end: 'unusable' };
  return { end: 'ambiguous' };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is an answer too: wire.ts calls it unintelligible.
    return null;
  }
}
