// Bodies that cannot be read are refused where all else has been looked at: an unknown route, a missing token or an ended
// endpoint is told first.
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route says itself what a body means that cannot be read. */
    anyBody?: true;
  }
}

/** In the place of a body of another media type, in another encoding than UTF-8, or that is no JSON, or more of it than a body may hold. */
export const UNREADABLE = Symbol('unreadable body');

/** Runs on every route, after the callers were judged. */
export class ReadableBodies implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body, routeOptions } = context.switchToHttp().getRequest<FastifyRequest>();
    if (body === UNREADABLE && !routeOptions.config.anyBody) throw new DomainError('request.unreadable_body');
    return true;
  }
}
