import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../../kernel/actor.js';
import type { AskedBy } from '../../kernel/asked-by.js';
import type { Environment } from '../../kernel/environment.js';
import { DomainError } from '../../kernel/domain-error.js';
import type { ActionContext, Effect } from '../../kernel/context.js';
import { callerOf } from './asked-by.js';

/** The sender of a request that the surface's authenticator has accepted. */
export interface Principal {
  readonly actor: Actor;
  readonly accountId: string;
  readonly environment: Environment;
  /** The role of a dashboard user. */
  readonly role?: 'OWNER' | 'ADMINISTRATOR' | 'DEVELOPER';
  readonly permissions?: readonly string[];
  /** The class of an API key's client, which sets the default format of reports: HTML for a partner, JSON for a first party. */
  readonly clientClass?: 'partner' | 'first_party';
  /** The id of a platform or dashboard token. */
  readonly tokenId?: string;
  /** The origin of the page to which a platform token was issued. */
  readonly origin?: string;
  /** The id of the first token in a chain of renewals. This id identifies the whole chain. */
  readonly lineage?: string;
  /** The time of the exchange that began the chain; seconds since 1970. */
  readonly exchangedAt?: number;
  /** The session grant of a platform token. */
  readonly grantId?: string;
}

/** The context of a command that comes from a request. */
export type RequestContext = ActionContext & Pick<Principal, 'accountId' | 'environment'>;

declare module 'fastify' {
  interface FastifyRequest {
    principal?: Principal;
    /** Set for a known caller (asked-by.ts). */
    askedBy?: AskedBy;
    /** Set when a context was made from the request. */
    effect?: Effect;
  }
}

/** The principal that the authenticator found. On a route without an authenticator, its use is refused like a missing token. */
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
    ...(request.askedBy !== undefined && { askedBy: request.askedBy, caller: () => callerOf(request) }),
    ...(principal.grantId !== undefined && { grantId: principal.grantId }),
    ...(principal.lineage !== undefined && { lineage: principal.lineage }),
  };
}

export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new DomainError('request.unauthenticated');
  return request.principal;
}
