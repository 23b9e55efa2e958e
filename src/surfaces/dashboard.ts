// The dashboard's API: what people of an account manage its webhooks with.
import { Injectable } from '@nestjs/common';
import { BearerStrategy, BearerTokens, type Claims } from '../platform/http/bearer-strategy.js';
import type { Principal } from '../platform/http/principal.js';
import { defineSurface } from '../platform/http/surface.js';
import { STRING_CODES } from './string-codes.js';

/** Lets in dashboard users with a good token. What each may do is in it, and asked for by the routes. */
@Injectable()
export class DashboardTokens extends BearerStrategy {
  constructor(tokens: BearerTokens) {
    super(tokens, 'dashboard');
  }

  protected override principalOf(claims: Claims): Principal | null {
    const { sub, account_id: accountId, env: environment, role, permissions } = claims;
    if (typeof sub !== 'string' || typeof accountId !== 'string') return null;
    if ((environment !== 'live' && environment !== 'test') || !isRole(role) || !isTexts(permissions)) return null;
    return { actor: { kind: 'dashboard-user', id: sub }, accountId, environment, role, permissions };
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
