// The dashboard's API: what people of an account manage its webhooks with.
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../kernel/domain-error.js';
import { BearerStrategy, BearerTokens, type Claims } from '../platform/http/bearer-strategy.js';
import type { Principal } from '../platform/http/principal.js';
import { defineSurface } from '../platform/http/surface.js';
import { AccessKeys } from '../published/access-keys.js';
import { STRING_CODES } from './string-codes.js';

/** Lets in dashboard users with a good token. What each may do is in it, and asked for by the routes. */
@Injectable()
export class DashboardTokens extends BearerStrategy {
  constructor(
    tokens: BearerTokens,
    private readonly accessKeys: AccessKeys,
  ) {
    super(tokens, 'dashboard');
  }

  /** A token that was revoked is refused like one that never was. */
  override async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await super.admit(request, reply);
    if (await this.accessKeys.isRevoked(request.principal?.tokenId ?? ''))
      throw new DomainError('request.unauthenticated');
  }

  protected override principalOf(claims: Claims): Principal | null {
    const { sub, account_id: accountId, env: environment, role, permissions, jti: tokenId } = claims;
    if (typeof sub !== 'string' || typeof accountId !== 'string' || typeof tokenId !== 'string') return null;
    if ((environment !== 'live' && environment !== 'test') || !isRole(role) || !isTexts(permissions)) return null;
    return { actor: { kind: 'dashboard-user', id: sub }, accountId, environment, role, permissions, tokenId };
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
