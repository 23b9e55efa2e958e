// The dashboard API, through which the people of an account manage its webhooks.
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DomainError } from '../kernel/domain-error.js';
import { BearerStrategy, BearerTokens, type Claims } from '../platform/http/bearer-strategy.js';
import type { Principal } from '../platform/http/principal.js';
import { defineSurface } from '../platform/http/surface.js';
import { AccessKeys } from '../published/access-keys.js';
import { STRING_CODES, WEBHOOK_ERRORS } from './string-codes.js';
import { noTokenOfOurs, tokenRefusal } from './token-refusal.js';

/** Accepts dashboard users with a valid token. The token contains the user's permissions, and each route checks the permission that it needs. */
@Injectable()
export class DashboardTokens extends BearerStrategy {
  constructor(
    tokens: BearerTokens,
    private readonly accessKeys: AccessKeys,
  ) {
    super(tokens, 'dashboard');
  }

  /** A revoked token gets the same answer as an unknown token. */
  override async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await super.admit(request, reply);
    if (await this.accessKeys.isRevoked(request.principal?.tokenId ?? '')) throw noTokenOfOurs();
  }

  protected override refusal(request: FastifyRequest, reason: unknown): DomainError {
    return tokenRefusal(request, reason);
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
  prefixes: { '/tsp': WEBHOOK_ERRORS },
  authenticator: DashboardTokens,
  cors: null,
  document: {
    name: 'dashboard',
    title: 'Webhook management',
    credentials: { 'dashboard-token': { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
  },
});
