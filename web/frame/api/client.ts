// Calls the platform API for the frame, as api/api.ts promises. main.tsx passes in the browser; tests pass in a substitute.
import { COMPONENT_ERRORS } from '../../contract/codes.js';
import { pauseBeforeRepeat, retryAfterOf } from '../../contract/repeats.js';
import { randomId } from '../random-id.js';
import type { Answer, Api, Call } from './api.js';
import type { Refusal } from './wire.js';

export interface Surroundings {
  readonly apiUrl: string;
  readonly fetch: typeof fetch;
  /** Ends early when the signal aborts. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
  isOnline(): boolean;
  /** Ends when the browser is online, or when the signal aborts. */
  online(signal?: AbortSignal): Promise<void>;
  /** The token for the call. After the service refused a token, returns another token if there is one. */
  token(refused: string | null): Promise<string | null>;
}

const READ_LIMIT_MS = 15_000;
const HTML_LIMIT_MS = 30_000;

const NO_REPLY: Refusal = {
  code: 'SERVICE_UNAVAILABLE',
  message: 'The service could not be reached.',
  recoverable: true,
};
const NO_TOKEN: Refusal = { code: 'AUTH_TOKEN_INVALID', ...COMPONENT_ERRORS.AUTH_TOKEN_INVALID };
const NOT_UNDERSTOOD: Refusal = {
  code: 'SYSTEM_INTERNAL_ERROR',
  message: 'The reply of the service could not be understood.',
  recoverable: false,
};

type Failure = Extract<Answer<never>, { ok: false }>;

export class Client implements Api {
  constructor(private readonly surroundings: Surroundings) {}

  call<Body>(call: Call, signal?: AbortSignal): Promise<Answer<Body>> {
    const key = call.key === undefined && call.method === 'POST' ? randomId() : call.key;
    const request: RequestInit = {
      method: call.method,
      headers: {
        Accept: 'application/json',
        ...(call.body ? { 'Content-Type': 'application/json' } : {}),
        ...(key ? { 'Idempotency-Key': key } : {}),
      },
      ...(call.body ? { body: JSON.stringify(call.body) } : {}),
    };
    const read = (reply: Response): Promise<Body> => reply.json() as Promise<Body>;
    return this.exchange<Body>(request, read, { ...call, timeoutMs: call.timeoutMs ?? READ_LIMIT_MS }, signal);
  }

  html(path: string, signal?: AbortSignal): Promise<Answer<string>> {
    const request = { method: 'GET', headers: { Accept: 'text/html' } };
    return this.exchange(request, (reply) => reply.text(), { path, timeoutMs: HTML_LIMIT_MS }, signal);
  }

  private async exchange<Body>(
    request: RequestInit,
    read: (reply: Response) => Promise<Body>,
    { path, timeoutMs, judged }: Pick<Call, 'path' | 'judged'> & { readonly timeoutMs: number },
    signal?: AbortSignal,
  ): Promise<Answer<Body>> {
    const { surroundings } = this;
    const isOver = (): boolean => signal?.aborted === true;
    let token = await surroundings.token(null);
    let renewed = false;
    let repeats = 0;
    for (;;) {
      await surroundings.online(signal);
      if (isOver()) return failure(0, NO_REPLY);
      if (token === null) return failure(401, NO_TOKEN);
      const attempt = await this.attempt(
        { ...request, ...authorized(request, token) },
        read,
        { path, timeoutMs },
        signal,
      );
      if (attempt.ok || isOver()) return attempt;
      if (attempt.status === 401) {
        if (renewed) return { ...attempt, error: NO_TOKEN };
        renewed = true;
        token = await surroundings.token(token);
        continue;
      }
      if (attempt.status === 0 && !surroundings.isOnline()) continue;
      const pauseMs = isToldAsItIs(attempt, judged) ? null : pauseBeforeRepeat(repeats, attempt);
      if (pauseMs === null) return attempt;
      repeats += 1;
      await surroundings.pause(pauseMs, signal);
    }
  }

  /** One request. The request is not repeated after its time limit, because the person has waited long enough. */
  private async attempt<Body>(
    request: RequestInit,
    read: (reply: Response) => Promise<Body>,
    { path, timeoutMs }: { readonly path: string; readonly timeoutMs: number },
    signal?: AbortSignal,
  ): Promise<Answer<Body> & { readonly timedOut?: boolean }> {
    const limit = AbortSignal.timeout(timeoutMs);
    // Some browsers that people use do not have AbortSignal.any.
    const ended = new AbortController();
    const end = (): void => ended.abort();
    limit.addEventListener('abort', end);
    signal?.addEventListener('abort', end);
    try {
      const reply = await this.surroundings.fetch(`${this.surroundings.apiUrl}${path}`, {
        ...request,
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        signal: ended.signal,
      });
      if (reply.ok) return { ok: true, status: reply.status, body: await read(reply) };
      return failure(reply.status, refusalOf(await reply.text(), reply.status), retryAfterOf(reply));
    } catch (problem) {
      if (isNoJson(problem)) return failure(500, NOT_UNDERSTOOD);
      return { ...failure(0, NO_REPLY), timedOut: limit.aborted };
    } finally {
      limit.removeEventListener('abort', end);
      signal?.removeEventListener('abort', end);
    }
  }
}

/** After too many requests, the person sees this reason and the time of the next try. */
function isToldAsItIs({ status, timedOut }: Failure & { readonly timedOut?: boolean }, judged?: boolean): boolean {
  return timedOut === true || status === 429 || (judged === true && status === 504);
}

function authorized(request: RequestInit, token: string): RequestInit {
  return { headers: { ...(request.headers as Record<string, string>), Authorization: `Bearer ${token}` } };
}

function failure(status: number, error: Refusal, retryAfterSeconds: number | null = null): Failure {
  return { ok: false, status, error, retryAfterSeconds };
}

/** A reply without the service's envelope comes from a proxy in between. */
function refusalOf(text: string, status: number): Refusal {
  try {
    const { error, sessionId } = Object(JSON.parse(text)) as { error?: Partial<Refusal>; sessionId?: unknown };
    if (typeof error?.code === 'string' && typeof error.message === 'string')
      return {
        ...error,
        code: error.code,
        message: error.message,
        recoverable: error.recoverable === true,
        ...(typeof sessionId === 'string' && { opened: sessionId }),
      };
  } catch (problem) {
    if (!isNoJson(problem)) throw problem;
  }
  return status >= 500 ? NO_REPLY : NOT_UNDERSTOOD;
}

function isNoJson(problem: unknown): boolean {
  return (problem as { name?: unknown }).name === 'SyntaxError';
}
