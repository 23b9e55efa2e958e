// Bodies that cannot be read are refused where all else has been looked at: an unknown route, a missing token or an ended
// endpoint is told first.
import {
  type CallHandler,
  type CustomDecorator,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { DomainError } from '../../kernel/domain-error.js';

/** In the place of a body of another media type, in another encoding than UTF-8, or that is no JSON, or more of it than anybody needs. */
export const UNREADABLE = Symbol('unreadable body');

/** What a body must be that is not UNREADABLE. */
export const READABLE = 'The body must be JSON in UTF-8, nested at most 32 deep and with at most 10,000 values.';

const ANY_BODY = 'any-body';

/** For a route that says itself what comes of a body that cannot be read. */
export const AnyBody = (): CustomDecorator => SetMetadata(ANY_BODY, true);

/** Runs on every route, after the guards. */
@Injectable()
export class ReadableBodies implements NestInterceptor {
  private readonly reflector = new Reflector();

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { body } = context.switchToHttp().getRequest<FastifyRequest>();
    if (body === UNREADABLE && !this.reflector.get<true | undefined>(ANY_BODY, context.getHandler()))
      throw new DomainError('request.invalid', { rule: READABLE });
    return next.handle();
  }
}
