import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import { Authenticator } from './authentication.js';
import { BearerTokens } from './bearer-tokens.js';
import type { Principal } from './principal.js';

/** What a dashboard user must be allowed for a route or a whole controller; for example `webhooks:manage`. */
export const NeedsPermission = Reflector.createDecorator<string>();

/** Lets in dashboard users: 401 without a good token, 403 without the permission that the route needs. */
@Injectable()
export class DashboardTokenGuard extends Authenticator {
  constructor(
    private readonly tokens: BearerTokens,
    private readonly reflector: Reflector,
  ) {
    super();
  }

  override async authenticate(request: FastifyRequest): Promise<void> {
    const {
      sub,
      account_id: accountId,
      env: environment,
      role,
      permissions,
    } = (await this.tokens.claimsOf(request.headers.authorization, 'dashboard')) ?? {};
    const whole =
      typeof sub === 'string' && typeof accountId === 'string' && (environment === 'live' || environment === 'test');
    if (!whole || !isRole(role) || !isTexts(permissions)) throw new DomainError('request.unauthenticated');
    request.principal = { actor: { kind: 'dashboard-user', id: sub }, accountId, environment, role, permissions };
  }

  override canActivate(context: ExecutionContext): boolean {
    super.canActivate(context);
    const needed: string | undefined = this.reflector.getAllAndOverride(NeedsPermission, [
      context.getHandler(),
      context.getClass(),
    ]);
    const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
    if (needed !== undefined && principal?.permissions?.includes(needed) !== true)
      throw new DomainError('request.forbidden');
    return true;
  }
}

function isRole(value: unknown): value is NonNullable<Principal['role']> {
  return value === 'OWNER' || value === 'ADMINISTRATOR' || value === 'DEVELOPER';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
