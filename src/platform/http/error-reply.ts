// The only place where a thrown error becomes a reply. Controllers have no catch, no status number and no message text.
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../kernel/error-codes.js';
import { DomainError } from '../../kernel/domain-error.js';
import { Unavailable } from '../../kernel/unavailable.js';
import { type Log, masked } from '../observability/log.js';
import { KnownReply, noteRefusal } from './idempotency.js';
import { atMost } from './json-limits.js';
import type { Surfaces } from './surface.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

declare module 'fastify' {
  interface FastifyRequest {
    /** The cause of a reply with 500 or 503, for the request log. Undefined for faults of the service, which have a log entry of their own. */
    notServedFor?: string;
    /** The error code of the reply, in its wire form. */
    refusedWith?: string;
  }
}

@Catch()
export class ErrorReplies implements ExceptionFilter {
  constructor(
    private readonly surfaces: Surfaces,
    private readonly log: Log,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    if (error instanceof KnownReply) return error.send(reply);
    noteRefusal(request, error);
    this.send(error, request, reply);
  }

  /** Answers with the texts of the route's surface. Replies to faults of the service give no details. */
  send(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const refusal = error instanceof DomainError ? error : refusalOf(error, request);
    const { status, headers, body, code } = this.surfaces.reply(refusal, request);
    request.refusedWith = code;
    // A reply with 500 may also pass on a vendor's refusal, which is not a fault of the service.
    if (refusal.code === 'service.failure')
      this.log.error({ requestId: request.id, route: request.routeOptions.url, err: error }, 'request failed');
    else if (status === 500 || status === 503) request.notServedFor = shortCauseOf(error);
    if (reply.sent) return;
    const seconds = request.effect?.retryAfterSeconds;
    void reply.status(status).headers(headers).type(JSON_TYPE);
    if (status >= 502 && seconds !== undefined) void reply.header('retry-after', seconds);
    void reply.send(body);
  }
}

/** When every request is refused, the log must stay small, because a full disk may be the cause. */
function shortCauseOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  if (error.cause instanceof Error) return shortCauseOf(error.cause);
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : masked(error.message);
}

/** The codes for the framework's own errors, by HTTP status. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'request.unauthenticated',
  403: 'request.forbidden',
  404: 'request.unknown_path',
  406: 'request.not_acceptable',
  415: 'request.media_type',
  429: 'request.rate_limited',
  503: 'service.unavailable',
};

/** Any error that is not the framework's is a fault of the service. */
function refusalOf(error: unknown, { routeOptions }: FastifyRequest): DomainError {
  if (error instanceof Unavailable) return new DomainError('service.unavailable');
  const { statusCode } = (error ?? {}) as { statusCode?: unknown };
  const status = error instanceof HttpException ? error.getStatus() : Number(statusCode);
  if (status === 413) return new DomainError('request.too_large', atMost('request body', routeOptions.bodyLimit));
  return new DomainError(CODES[status] ?? (status >= 400 && status < 500 ? 'request.invalid' : 'service.failure'));
}
