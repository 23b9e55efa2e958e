// The platform API: what embedded components and the pages around them call.
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../kernel/domain-error.js';
import { Authenticator } from '../platform/http/authenticator.js';
import { BearerTokens, type Claims } from '../platform/http/bearer-tokens.js';
import { defineSurface } from '../platform/http/surface.js';
import { OF_A_SESSION, REPORT_ERRORS, STRING_CODES, TOKEN_ERRORS } from './string-codes.js';

/** Where the embedded component is served; also the injection token. */
export abstract class EmbeddedComponent {
  /** An absolute URL. */
  abstract readonly url: string;
}

/**
 * Lets in requests with a token of the exchange, from the page it was issued to or from the embedded component itself
 * (docs/contract/platform.md#bearer-tokens). A request without an Origin is only a browser's same-origin GET from the component; its Sec-Fetch-Site says
 * so, which scripts cannot set.
 */
@Injectable()
export class PlatformTokens extends Authenticator {
  private readonly embedded: URL;

  constructor(
    private readonly tokens: BearerTokens,
    component: EmbeddedComponent,
  ) {
    super();
    this.embedded = new URL(component.url);
  }

  override authenticate(request: FastifyRequest): void | Promise<void> {
    const claims = this.tokens.claimsOf(request.headers.authorization, 'platform');
    return claims instanceof Promise
      ? claims.then((verified) => this.admit(request, verified))
      : this.admit(request, claims);
  }

  private admit(request: FastifyRequest, claims: Claims | null): void {
    const { sub, account_id: accountId, env: environment, origin, grant, jti } = claims ?? {};
    const whole = typeof sub === 'string' && typeof accountId === 'string' && typeof origin === 'string';
    if (!whole || (environment !== 'live' && environment !== 'test') || !this.comesFrom(request, origin)) {
      throw new DomainError('request.unauthenticated');
    }
    request.principal = {
      actor: { kind: 'platform-token', id: sub },
      accountId,
      environment,
      ...(typeof jti === 'string' && { tokenId: jti }),
      ...(typeof grant === 'string' && { grantId: grant }),
    };
  }

  private comesFrom(request: FastifyRequest, tokenOrigin: string): boolean {
    const { origin } = request.headers;
    if (origin !== undefined) return origin === tokenOrigin || origin === this.embedded.origin;
    return request.headers['sec-fetch-site'] === 'same-origin' && request.host === this.embedded.host;
  }
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
    '/voie': {},
  },
  authenticator: PlatformTokens,
  // Decisions 2.2: the embedded component runs on its own origin and host pages on theirs.
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
      'X-Request-Id',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Idempotent-Replayed',
    ],
    preflightSeconds: 600,
  },
  document: PLATFORM_DOCUMENT,
});
