// The platform API, which embedded components and the pages around them call.
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { DomainError } from '../kernel/domain-error.js';
import { BearerStrategy, BearerTokens, type Claims } from '../platform/http/bearer-strategy.js';
import type { Principal } from '../platform/http/principal.js';
import { defineSurface } from '../platform/http/surface.js';
import { platformToken } from './platform/claims.js';
import { INCOME_ERRORS, OF_A_SESSION, REPORT_ERRORS, STRING_CODES, TOKEN_ERRORS } from './string-codes.js';
import { tokenRefusal, unauthenticated } from './token-refusal.js';

/** The address of the embedded component. This class is also the injection token. */
export abstract class EmbeddedComponent {
  /** An absolute URL. */
  abstract readonly url: string;
}

/**
 * Accepts requests with a token of the exchange from two origins: the page that received the token, and the embedded component
 * (docs/contract/platform.md#bearer-tokens). A request without an Origin can only be the component's own same-origin GET. The header Sec-Fetch-Site
 * proves this, because scripts cannot set it.
 */
@Injectable()
export class PlatformTokens extends BearerStrategy {
  private readonly embedded: URL;

  constructor(tokens: BearerTokens, component: EmbeddedComponent) {
    super(tokens, 'platform');
    this.embedded = new URL(component.url);
  }

  protected override refusal(request: FastifyRequest, reason: unknown): DomainError {
    return tokenRefusal(request, reason);
  }

  protected override principalOf(claims: Claims, request: FastifyRequest): Principal | null {
    const token = platformToken(claims);
    if (token === null) return null;
    if (!this.comesFrom(request, token.origin)) throw elsewhere(request.headers.origin);
    return token.principal;
  }

  private comesFrom(request: FastifyRequest, tokenOrigin: string): boolean {
    const { origin } = request.headers;
    if (origin !== undefined) return origin === tokenOrigin || origin === this.embedded.origin;
    return request.headers['sec-fetch-site'] === 'same-origin' && request.host === this.embedded.host;
  }
}

/** The message does not say to which origin the token belongs, because a stranger may have the token. */
function elsewhere(origin: string | undefined): DomainError {
  if (origin === undefined)
    return unauthenticated('The request has no Origin header, and the token is for the pages of one origin.');
  const named = /^https?:\/\/[\w.:[\]-]{1,255}$/.test(origin) ? ` than ${origin}` : '';
  return unauthenticated(
    `The token is for another origin${named}. Exchange the publishable key from the page that calls.`,
  );
}

export const PLATFORM_DOCUMENT = {
  name: 'platform',
  title: 'Platform API',
  credentials: {
    'platform-token': { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    'publishable-key': { type: 'apiKey', in: 'header', name: 'X-Publishable-Key' },
  },
} as const;

export const platform = defineSurface({
  ...STRING_CODES,
  name: 'platform',
  prefixes: {
    '/auth': TOKEN_ERRORS,
    '/screening': {},
    '/payments': OF_A_SESSION,
    '/reports': { ...OF_A_SESSION, ...REPORT_ERRORS },
    '/voie': INCOME_ERRORS,
  },
  authenticator: PlatformTokens,
  // The embedded component and the host pages each have an origin of their own (docs/contract/platform.md#cross-origin-requests).
  cors: {
    methods: ['GET', 'POST'],
    requestHeaders: [
      'Authorization',
      'Content-Type',
      'Accept',
      'X-Publishable-Key',
      'X-Session-Token',
      'Idempotency-Key',
      'X-Request-Id',
    ],
    replyHeaders: [
      'Retry-After',
      'Service-Request-Id',
      'Service-Warnings',
      'X-Request-Id',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Idempotent-Replayed',
      'Idempotency-Kept',
    ],
    preflightSeconds: 600,
  },
  document: PLATFORM_DOCUMENT,
});
