import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../../kernel/actor.js';
import type { Environment } from '../../kernel/environment.js';
import { DomainError } from '../../kernel/domain-error.js';
import type { ActionContext, Effect } from '../../kernel/context.js';

/** Who sent the request, once the authenticator of the surface has let it in. */
export interface Principal {
  readonly actor: Actor;
  readonly accountId: string;
  readonly environment: Environment;
  /** Role of a dashboard user. */
  readonly role?: 'OWNER' | 'ADMINISTRATOR' | 'DEVELOPER';
  readonly permissions?: readonly string[];
  /** Of an API key: what reports default to, HTML for a partner, JSON for a first party. */
  readonly clientClass?: 'partner' | 'first_party';
  /** Of a dashboard token. */
  readonly tokenId?: string;
  /** The chain of platform tokens that began with one exchange: the id of the first one. */
  readonly lineage?: string;
  /** When the exchange was made that a platform token comes from, whatever renewed it since; seconds since 1970. */
  readonly exchangedAt?: number;
  /** The session grant that a platform token was issued under. */
  readonly grantId?: string;
}

/** The context of a command that a request asks for. */
export type RequestContext = ActionContext & Pick<Principal, 'accountId' | 'environment'>;

declare module 'fastify' {
  interface FastifyRequest {
    principal?: Principal;
    /** Set once a context was made of the request. */
    effect?: Effect;
  }
}

/** The principal that the authenticator found; using it on a route without one is refused like a missing token. */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal =>
  principalOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** The command context of the request: its principal and its request id. */
export const CurrentContext = createParamDecorator((_: unknown, context: ExecutionContext): RequestContext =>
  contextOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

export function contextOf(request: FastifyRequest): RequestContext {
  const principal = principalOf(request);
  return {
    accountId: principal.accountId,
    environment: principal.environment,
    actor: principal.actor,
    correlationId: request.id,
    causationId: request.id,
    effect: (request.effect ??= { done: false }),
    ...(principal.grantId !== undefined && { grantId: principal.grantId }),
    ...(principal.lineage !== undefined && { lineage: principal.lineage }),
  };
}

export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new DomainError('request.unauthenticated');
  return request.principal;
}
