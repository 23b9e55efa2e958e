// The HTTP client of every vendor folder. An adapter runs the requests of a call in one `VendorClient.within`, and interprets the answers itself.
import { setTimeout as pause } from 'node:timers/promises';
import { limited, within } from '../../kernel/with-timeout.js';
import type { NoVerdict, VendorCall } from '../../ports/vendor-call.js';
import { type Dialect, type Reader, type VendorAnswer, isTurnedAway, pauseOf } from './answer.js';
import type { Auth, AuthScheme } from './auth.js';
import { type Exchange, type Method, type RawRequest, Transport, type TransportOptions } from './transport.js';

export interface VendorClientOptions extends TransportOptions {
  /** The milliseconds of a whole call: waiting for a token and a connection, connecting, headers, body, repeats, pauses and polls. */
  readonly timeoutMs: number;
  readonly auth: AuthScheme;
  readonly dialect?: Dialect;
  /** The header with the attempt's id, for every request but a GET. The default is `idempotency-key`; null sends none. */
  readonly idempotencyHeader?: string | null;
  /** The header with the call's correlation id. The default is `x-request-id`; null sends none. */
  readonly requestIdHeader?: string | null;
}

export interface VendorRequest {
  readonly method: Method;
  /** The path with its query, below the vendor's address. Personal data belong into the body. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body as JSON, as a form, or as the text of a type that `headers` name. */
  readonly json?: object;
  readonly form?: Readonly<Record<string, string>>;
  readonly text?: string;
}

/** The vendor is still at work. The caller looks again after the pause. */
export interface Pending {
  readonly kind: 'pending';
  /** Whole seconds, at least 1. */
  readonly lookAgainAfterSeconds: number;
}

export interface Poll<Verdict> {
  readonly read: Reader<Verdict>;
  /** Whether the answer states that the vendor is still at work. `read` gets the other answers. */
  readonly pending: (answer: VendorAnswer) => boolean;
  /** The pause in seconds that the vendor states in the body of its answer. The default is the answer's `Retry-After`. */
  readonly retryAfter?: (answer: VendorAnswer) => number | undefined;
  /** The pause in seconds if the vendor states none. The default is 0.5. */
  readonly pauseSeconds?: number;
  /** The pause in seconds before the first request, such as the `retryAfterSeconds` of the accepted submission. The default is `pauseSeconds`. */
  readonly firstAfterSeconds?: number | undefined;
}

/** Marks the ends of exchanges that `VendorCall.onEnd` gets. */
type Role = '' | 'token-' | 'poll-';

/** The renewals of a call's credential. A vendor that refuses every credential would otherwise cause one for each poll. */
interface Renewal {
  isUsed: boolean;
}

export class VendorClient {
  private readonly transport: Transport;
  private readonly auth: Auth;

  constructor(private readonly options: VendorClientOptions) {
    this.transport = new Transport(options);
    this.auth = options.auth(options);
  }

  /** Runs the requests of a call within one time limit. The call's signal may end them earlier. */
  within<Value>(call: VendorCall, work: (vendor: Conversation) => Promise<Value>): Promise<Value> {
    const { timeoutMs } = this.options;
    const endsAt = performance.now() + timeoutMs;
    const renewal: Renewal = { isUsed: false };
    return limited(timeoutMs, call.signal, (limit) =>
      work(
        new Conversation((request, role = '') => this.exchange(call, request, limit, { role, renewal }), limit, endsAt),
      ),
    );
  }

  /** One exchange, for SDKs. The caller limits it. A request is sent again only after a refused credential. */
  async exchange(
    call: VendorCall,
    request: VendorRequest,
    limit: AbortSignal,
    { role, renewal }: { readonly role: Role; readonly renewal: Renewal } = { role: '', renewal: { isUsed: false } },
  ): Promise<Exchange> {
    const told = (exchange: Exchange, by: Role = role): Exchange => {
      const end = exchange.end === 'answered' ? String(exchange.answer.status) : exchange.end;
      call.onEnd?.(by + end, demandedPause(exchange).retryAfterSeconds);
      return exchange;
    };
    const onToken = (exchange: Exchange): Exchange => told(exchange, 'token-');
    const raw = this.rawRequest(call, request);
    const parts = { method: raw.method, path: this.transport.pathOf(raw.path), body: raw.body ?? '' };
    const send = async (): Promise<Exchange> => {
      const credential = await within(limit, this.auth.credentialFor(parts, onToken), () => null);
      if (credential === null) return told({ end: 'timed-out' });
      if (!('renew' in credential)) return told({ end: 'not-sent', ...credential });
      const headers = { ...raw.headers, ...lowercase(credential.headers) };
      const exchange = told(this.outcomeOf(await this.transport.exchange({ ...raw, headers }, limit)));
      const refused = exchange.end === 'answered' && this.isCredentialRefused(exchange.answer);
      if (!refused || renewal.isUsed) return exchange;
      renewal.isUsed = true;
      return (await within(limit, credential.renew(), () => false)) ? send() : exchange;
    };
    return send();
  }

  /** Lets calls in progress end, each within its time limit. */
  async close(): Promise<void> {
    await Promise.all([this.transport.close(), this.auth.close?.()]);
  }

  /** A gateway that answers instead of the vendor does not know whether the vendor has executed the call. */
  private outcomeOf(exchange: Exchange): Exchange {
    if (exchange.end !== 'answered') return exchange;
    const { answer } = exchange;
    const isGateway = (answer.status === 502 || answer.status === 504) && !this.hasCode(answer);
    return isGateway ? { end: 'ambiguous' } : exchange;
  }

  private hasCode(answer: VendorAnswer): boolean {
    return (this.options.dialect?.codeOf?.(answer) ?? null) !== null;
  }

  private isCredentialRefused(answer: VendorAnswer): boolean {
    return this.options.dialect?.credentialRefused?.(answer) ?? answer.status === 401;
  }

  private rawRequest(call: VendorCall, { method, path, headers, json, form, text }: VendorRequest): RawRequest {
    const { idempotencyHeader = 'idempotency-key', requestIdHeader = 'x-request-id' } = this.options;
    return {
      method,
      path,
      headers: {
        accept: 'application/json',
        ...(json && { 'content-type': 'application/json' }),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(requestIdHeader !== null && { [requestIdHeader]: call.correlationId }),
        ...(idempotencyHeader !== null && method !== 'GET' && { [idempotencyHeader]: call.attemptId }),
        ...(call.behaviour !== undefined && { 'x-test-behaviour': call.behaviour }),
        ...lowercase(headers),
      },
      body: json ? JSON.stringify(json) : form ? new URLSearchParams(form).toString() : (text ?? null),
    };
  }
}

/** The requests of one call. All share its time limit. */
export class Conversation {
  constructor(
    private readonly exchange: (request: VendorRequest, role?: Role) => Promise<Exchange>,
    private readonly limit: AbortSignal,
    private readonly endsAt: number,
  ) {}

  /**
   * Sends a request that the vendor must not get twice. `settle` learns the outcome if the exchange was interrupted; without it the verdict is
   * `timed-out`. Only after a refused credential is the request sent again, because the vendor has then executed nothing.
   */
  async sendOnce<Verdict extends { readonly kind: string }>(
    request: VendorRequest,
    read: Reader<Verdict>,
    settle?: () => Promise<Verdict | NoVerdict>,
  ): Promise<Verdict | NoVerdict> {
    const known = verdictOf(await this.exchange(request), read);
    return known === 'ambiguous' ? ((await settle?.()) ?? { kind: 'timed-out' }) : known;
  }

  /**
   * Sends a request that may be repeated: it changes nothing, or the vendor executes it once for each idempotency key. It is repeated once when its
   * outcome is unknown.
   */
  async ask<Verdict extends { readonly kind: string }>(
    request: VendorRequest,
    read: Reader<Verdict>,
  ): Promise<Verdict | NoVerdict> {
    const first = verdictOf(await this.exchange(request), read);
    if (first !== 'ambiguous') return first;
    const second = verdictOf(await this.exchange(request), read);
    // If the second request was not executed, the first may still have been executed.
    return second === 'ambiguous' || second.kind === 'unavailable' ? { kind: 'timed-out' } : second;
  }

  /**
   * Sends a query until its answer is not pending. An unreachable vendor, a lost answer, 401, 403, 429 and 503 count as pending. The result is `pending` when the next
   * pause would outlast the call's time limit.
   */
  async poll<Verdict extends { readonly kind: string }>(
    request: VendorRequest,
    poll: Poll<Verdict>,
  ): Promise<Verdict | Pending | NoVerdict> {
    const { pauseSeconds = 0.5, firstAfterSeconds = pauseSeconds } = poll;
    let seconds = firstAfterSeconds;
    while (await this.paused(seconds)) {
      const exchange = await this.exchange(request, 'poll-');
      const known = isPending(exchange, poll) ? 'ambiguous' : verdictOf(exchange, poll.read);
      if (known !== 'ambiguous') return known;
      seconds = statedPause(exchange, poll) ?? Math.min(LONGEST_SILENT_PAUSE, seconds * 2);
    }
    return { kind: 'pending', lookAgainAfterSeconds: Math.max(1, Math.ceil(seconds)) };
  }

  private async paused(seconds: number): Promise<boolean> {
    if (performance.now() + seconds * 1_000 >= this.endsAt) return false;
    return pause(seconds * 1_000, true, { signal: this.limit }).catch(() => false);
  }
}

/** In seconds, for a vendor that states none. */
const LONGEST_SILENT_PAUSE = 5;

/** A vendor that rejects the query may still be at work on the request that the query is about. */
function isPending(exchange: Exchange, { pending }: Poll<unknown>): boolean {
  if (exchange.end !== 'answered') return exchange.end !== 'unusable';
  return pending(exchange.answer) || isTurnedAway(exchange.answer.status);
}

function statedPause(exchange: Exchange, { retryAfter }: Poll<unknown>): number | undefined {
  if (exchange.end !== 'answered') return exchange.retryAfterSeconds;
  return retryAfter?.(exchange.answer) ?? exchange.answer.retryAfterSeconds;
}

function verdictOf<Verdict extends { readonly kind: string }>(
  exchange: Exchange,
  read: Reader<Verdict>,
): Verdict | NoVerdict | 'ambiguous' {
  switch (exchange.end) {
    case 'answered': {
      const verdict = read(exchange.answer);
      return verdict.kind === 'unavailable' ? { ...verdict, ...demandedPause(exchange) } : verdict;
    }
    case 'ambiguous':
      return 'ambiguous';
    case 'unusable':
      return { kind: 'unintelligible' };
    case 'not-sent':
      return { kind: 'unavailable', ...demandedPause(exchange) };
    case 'timed-out':
      return { kind: 'timed-out' };
    default:
      return exchange satisfies never;
  }
}

/** The pause that a busy vendor, or its token endpoint, demands before any other call. */
function demandedPause(exchange: Exchange): { readonly retryAfterSeconds?: number } {
  const seconds = exchange.end === 'answered' ? pauseOf(exchange.answer) : exchange.retryAfterSeconds;
  return seconds === undefined ? {} : { retryAfterSeconds: seconds };
}

/** Two names of one header in other letters would be sent as two headers. */
function lowercase(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
