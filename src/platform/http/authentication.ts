// Who sends a request is judged by its headers, before its body is read and once (docs/contract/general.md#bodies): a stranger is answered unread.
import 'reflect-metadata';
import { type CanActivate, type ExecutionContext, type Type, UseGuards } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who judges the callers of this one route; `@AuthenticatedBy` sets it. */
    authenticator?: Type<Authenticator>;
  }
  interface FastifyRequest {
    /** Who let the request in. */
    authenticatedBy?: Authenticator;
  }
}

/** The guard of a door, whose verdict is already there when Nest asks for it. */
export abstract class Authenticator implements CanActivate {
  /** Throws the refusal, or notes on the request what is known of its caller. Sees no body. */
  abstract authenticate(request: FastifyRequest, reply: FastifyReply): void | Promise<void>;

  canActivate(context: ExecutionContext): boolean {
    const { authenticatedBy } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!(authenticatedBy instanceof this.constructor)) throw new DomainError('request.unauthenticated');
    return true;
  }
}

/** For a controller: who judges the callers of all its routes. Needs `authenticateFirst` on the same server; without it nobody is let in. */
export function AuthenticatedBy(authenticator: Type<Authenticator>): ClassDecorator {
  return (controller) => {
    const members = Object.values(Object.getOwnPropertyDescriptors(controller.prototype)) as {
      readonly value?: unknown;
    }[];
    for (const { value: route } of members) {
      if (typeof route !== 'function') continue;
      const config = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, route) as object | undefined;
      Reflect.defineMetadata(FASTIFY_ROUTE_CONFIG_METADATA, { ...config, authenticator }, route);
    }
    UseGuards(authenticator)(controller);
  };
}

/** Lets authenticators judge before bodies are read. Where there is no route, nothing is read either. */
export function authenticateFirst(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request, _reply, done) =>
    done(request.is404 ? new DomainError('request.not_found') : undefined),
  );
  fastify.addHook('onRoute', (route) => {
    if (route.config?.authenticator === undefined) return;
    const authenticator = app.get(route.config.authenticator, { strict: false });
    route.onRequest = (request, reply, done) => {
      const admit = (): void => {
        request.authenticatedBy = authenticator;
        done();
      };
      try {
        const verdict = authenticator.authenticate(request, reply);
        if (verdict instanceof Promise) verdict.then(admit, done);
        else admit();
      } catch (error) {
        done(error as Error);
      }
    };
  });
}
