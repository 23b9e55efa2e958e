// One request for a token. The page makes the request, because the publishable key allows the page's origin.
import type { CallbackPayloads } from '../contract/callbacks.js';
import { HOST_ERRORS, hostError, type HostErrorCode } from '../contract/host-codes.js';
import type { Token } from '../contract/messages.js';
import { readCode, readMessage } from '../contract/read-values.js';
import { readToken } from '../contract/read-messages.js';
import { boolean, fields, integer, nullable } from '../contract/readers.js';
import { type Failure, retryAfterOf } from '../contract/repeats.js';
import type { Settings } from './settings.js';

export type ErrorPayload = CallbackPayloads['onError'];

export interface Grant {
  readonly consumed: boolean;
  readonly reason: string | null;
  readonly onBehalfOf?: boolean;
}

export interface Given {
  readonly token: Token;
  readonly grant: Grant | null;
}

export type Exchanged = Given | { readonly error: ErrorPayload };

export interface Refused extends Failure {
  readonly error: ErrorPayload;
  /** The time limit has passed, or the caller no longer waits. */
  readonly isEnded: boolean;
}

const TIMEOUT_MS = 10_000;

/** Seconds. */
const readLifetime = integer(1);
const readGrant = fields<Grant>({ consumed: boolean, reason: nullable(readCode) }, { onBehalfOf: boolean });

export interface Wanted {
  /** The grant that the request redeems. */
  readonly sessionToken: string | null;
  /** The token that the request renews. The new token has the same account and grant. */
  readonly renewed: string | null;
  /** The code for a request without any reply, and for a reply without a code. */
  readonly failed: 'TOKEN_EXCHANGE_FAILED' | 'TOKEN_REFRESH_FAILED';
}

/** Never rejects. */
export async function exchangeToken(
  { baseUrl, publishableKey }: Settings,
  { sessionToken, renewed, failed }: Wanted,
  ended: AbortSignal,
): Promise<Given | Refused> {
  const limit = new AbortController();
  const abort = (): void => limit.abort();
  const timer = setTimeout(abort, TIMEOUT_MS);
  ended.addEventListener('abort', abort);
  // A token's validity begins when the service makes it, which is after this moment.
  const askedAt = Date.now();
  let status = 0;
  let retryAfterSeconds: number | null = null;
  const refused = (error: ErrorPayload): Refused => ({
    error,
    status,
    retryAfterSeconds,
    isEnded: limit.signal.aborted,
  });
  try {
    const reply = await fetch(`${baseUrl}/auth/token/exchange`, {
      method: 'POST',
      headers: {
        'X-Publishable-Key': publishableKey,
        ...(sessionToken !== null && { 'X-Session-Token': sessionToken }),
        ...(renewed !== null && { Authorization: `Bearer ${renewed}` }),
      },
      credentials: 'omit',
      referrerPolicy: 'origin',
      signal: limit.signal,
    });
    const body = parse(await reply.text());
    status = reply.status;
    retryAfterSeconds = retryAfterOf(reply);
    if (!reply.ok)
      return refused(body === undefined ? hostError('UNKNOWN_ERROR', status) : refusalIn(body, failed, status));
    const { token, expires_in, grant } = (body ?? {}) as Record<string, unknown>;
    const lifetime = readLifetime(expires_in) ?? NaN;
    const read = readToken({ token, expiresAt: askedAt + lifetime * 1_000 });
    if (read !== null) return { token: read, grant: readGrant(grant) ?? null };
  } catch {
    // A refused connection, a late reply and an incomplete body are reported below.
  } finally {
    clearTimeout(timer);
    ended.removeEventListener('abort', abort);
  }
  return refused(hostError(failed, status));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusalIn(body: unknown, failed: HostErrorCode, status: number): ErrorPayload {
  const error = ((body as { error?: unknown } | null)?.error ?? {}) as Record<string, unknown>;
  const code = readCode(error['code']);
  if (code === undefined) return hostError(failed, status);
  if (Object.hasOwn(HOST_ERRORS, code)) return hostError(code as HostErrorCode, status);
  const recoverable = boolean(error['recoverable']);
  return {
    code,
    message: readMessage(error['message']) ?? HOST_ERRORS[failed].message,
    ...(recoverable !== undefined && { recoverable }),
  };
}
