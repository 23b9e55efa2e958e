// Authenticates a request by its headers, before its body is read (docs/contract/general.md#bodies). A stranger's body is never read.
import { type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import type { Authenticator } from './authenticator.js';
import type { Surfaces } from './surface.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The authenticator of this single route, instead of the surface's authenticator. Null accepts every caller. */
    authenticator?: Type<Authenticator> | null;
    /** A GET without any effect, which also answers HEAD. */
    readsOnly?: true;
    /** The request log has only the refused requests to this route. */
    unnoted?: true;
  }
  interface FastifyRequest {
    /** Set when the authenticator of the route has accepted the request, or the route has none. */
    admitted?: true;
  }
}

/** The permission that a dashboard user needs for a route or a whole controller, such as `webhooks:manage`. */
export const NeedsPermission = Reflector.createDecorator<string>();

/** Runs on every route of Nest. Refuses a request that `authenticateFirst` has not accepted, and a caller without the route's permission. */
export class AuthenticationGuard implements CanActivate {
  private readonly reflector = new Reflector();

  canActivate(context: ExecutionContext): boolean {
    const { admitted, principal } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!admitted) throw new DomainError('request.unauthenticated');
    const places = [context.getHandler(), context.getClass()];
    const needed: string | undefined = this.reflector.getAllAndOverride(NeedsPermission, places);
    if (needed !== undefined && principal?.permissions?.includes(needed) !== true)
      throw new DomainError('request.forbidden');
    return true;
  }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Runs authenticators before bodies are read. When no route matches, the body is not read either. */
export function authenticateFirst(app: NestFastifyApplication, surfaces: Surfaces): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', ({ is404, method: asked, url }, _reply, done) => {
    const takes = (method: string): boolean => (fastify.findRoute({ method, url }) as object | null) !== null;
    // A preflight that arrives here belongs to a route that pages of other origins may not call.
    const methods = is404 && asked !== 'OPTIONS' ? METHODS.filter(takes) : [];
    if (methods.length > 0) done(new DomainError('request.unknown_method', { methods }));
    else done(is404 ? new DomainError('request.unknown_path') : undefined);
  });
  fastify.addHook('onRoute', (route) => {
    const { readsOnly, authenticator: type = surfaces.at(route.url).authenticator } = route.config ?? {};
    if (readsOnly) route.method = ['GET', 'HEAD'];
    const authenticator = type && app.get(type, { strict: false });
    route.onRequest = [
      ...[route.onRequest ?? []].flat(),
      (request, reply, done) => {
        const admit = (): void => {
          request.admitted = true;
          done();
        };
        try {
          const verdict = authenticator?.admit(request, reply);
          if (verdict instanceof Promise) verdict.then(admit).catch(done);
          else admit();
        } catch (error) {
          done(error as Error);
        }
      },
    ];
  });
}
