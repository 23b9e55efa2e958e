// Bodies that cannot be read are refused where all else has been looked at: an unknown route, a missing token or an ended
// endpoint is told first.
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { DomainError } from '../../kernel/domain-error.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route says itself what a body means that cannot be read. */
    anyBody?: true;
  }
}

/** In the place of a body of another media type, in another encoding than UTF-8, or that is no JSON, or more of it than a body may hold. */
export const UNREADABLE = Symbol('unreadable body');

/** Runs on every route, after the guards. */
@Injectable()
export class ReadableBodies implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { body, routeOptions } = context.switchToHttp().getRequest<FastifyRequest>();
    if (body === UNREADABLE && !routeOptions.config.anyBody) throw new DomainError('request.unreadable_body');
    return next.handle();
  }
}
