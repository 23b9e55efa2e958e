import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import { Authenticator } from './authentication.js';
import { BearerTokens, type Claims } from './bearer-tokens.js';

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
export class PlatformTokenGuard extends Authenticator {
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
