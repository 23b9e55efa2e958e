// The one place where a thrown thing becomes a reply. Controllers hold no catch, no status number and no message text.
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { STRING_CODES, STRING_FIELDS, type StringFace } from '../../errors/string-codes.js';
import type { ErrorCode } from '../../kernel/error-codes.js';
import { DomainError } from '../../kernel/domain-error.js';
import { Unavailable } from '../../kernel/unavailable.js';
import type { Log } from '../observability/log.js';

export interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly field?: string;
    readonly details?: readonly { readonly field: string; readonly message: string }[];
    readonly recoverable: boolean;
  };
  /** The screening session that the refused request has opened. */
  readonly sessionId?: string;
}

export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

/** What the caller hears. Faults of ours say nothing about themselves. */
export function errorReply(error: unknown, path: string): ErrorReply {
  const refusal = error instanceof DomainError ? error : new DomainError(conditionOf(error, path));
  const face: StringFace = STRING_CODES[refusal.code];
  const { rule, retryAfterSeconds, sessionId } = refusal.detail;
  const field = refusal.detail.field && wireName(refusal.detail.field);
  const details = refusal.detail.details?.map((detail) => ({ ...detail, field: wireName(detail.field) }));
  const broken = details?.find((detail) => detail.field === field);
  return {
    status: face.status,
    headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
    body: {
      error: {
        code: face.code,
        message: broken ? `${broken.field} ${broken.message}.` : (rule ?? face.message),
        ...(field === undefined ? {} : { field }),
        ...(details === undefined ? {} : { details }),
        recoverable: face.recoverable,
      },
      ...(sessionId === undefined ? {} : { sessionId }),
    },
  };
}

/** A name that is not mapped comes from a body class, which has the names of the wire. */
function wireName(field: string): string {
  return (STRING_FIELDS as Readonly<Record<string, string>>)[field] ?? field;
}

function conditionOf(error: unknown, path: string): ErrorCode {
  if (error instanceof Unavailable) return 'service.unavailable';
  const status =
    error instanceof HttpException ? error.getStatus() : (error as { statusCode?: unknown } | null)?.statusCode;
  switch (status) {
    case 401:
      return 'request.unauthenticated';
    case 403:
      return 'request.forbidden';
    case 404:
      return 'request.not_found';
    case 406:
      return 'request.not_acceptable';
    case 413:
      return 'request.too_large';
    case 429:
      return 'request.rate_limited';
    case 503:
      return 'service.unavailable';
    default:
      if (typeof status === 'number' && status >= 400 && status < 500) return 'request.invalid';
      return path.startsWith('/auth/') ? 'token.failure' : 'service.failure';
  }
}

@Catch()
export class ErrorReplies implements ExceptionFilter {
  constructor(private readonly log: Log) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    sendError(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>(), this.log);
  }
}

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): void {
  const { status, headers, body } = errorReply(error, request.url);
  if (status === 500)
    log.error({ requestId: request.id, route: request.routeOptions.url, err: error }, 'request failed');
  else if (status === 503)
    log.warn({ requestId: request.id, route: request.routeOptions.url, err: error }, 'request could not be served');
  if (reply.sent) return;
  void reply.status(status).headers(headers).send(body);
}
