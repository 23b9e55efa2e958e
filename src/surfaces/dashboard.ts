// The dashboard's API: what people of an account manage its webhooks with.
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../kernel/domain-error.js';
import { Authenticator } from '../platform/http/authenticator.js';
import { BearerTokens } from '../platform/http/bearer-tokens.js';
import type { Principal } from '../platform/http/principal.js';
import { defineSurface } from '../platform/http/surface.js';
import { STRING_CODES } from './string-codes.js';

/** Lets in dashboard users with a good token. What each may do is in it, and asked for by the routes. */
@Injectable()
export class DashboardTokens extends Authenticator {
  constructor(private readonly tokens: BearerTokens) {
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
}

function isRole(value: unknown): value is NonNullable<Principal['role']> {
  return value === 'OWNER' || value === 'ADMINISTRATOR' || value === 'DEVELOPER';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

export const dashboard = defineSurface({
  ...STRING_CODES,
  name: 'dashboard',
  prefixes: { '/tsp': {} },
  authenticator: DashboardTokens,
  cors: null,
  document: {
    name: 'dashboard',
    title: 'Webhook management',
    credentials: { 'dashboard-token': { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
  },
});
