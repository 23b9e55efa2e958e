import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { BearerStrategy, BearerTokens, type Claims } from '../../../../platform/http/bearer-strategy.js';
import type { Principal } from '../../../../platform/http/principal.js';
import { platformToken } from '../../../../surfaces/platform/claims.js';
import type { RenewedToken } from '../../application/exchange-token.js';

/** Reads the bearer token that an exchange renews. Only the page that received the token may renew it. */
@Injectable()
export class Renewals extends BearerStrategy {
  constructor(tokens: BearerTokens) {
    super(tokens, 'platform');
  }

  /** Null if no token was sent; `bad` for an invalid one. */
  async in(request: FastifyRequest, reply: FastifyReply): Promise<RenewedToken | 'bad' | null> {
    if ((request.headers.authorization ?? '') === '') return null;
    try {
      await this.admit(request, reply);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'request.unauthenticated') return 'bad';
      throw error;
    }
    if (!request.principal) return 'bad';
    const { actor, accountId, environment, grantId = null, lineage, exchangedAt } = request.principal;
    if (exchangedAt === undefined || lineage === undefined) return 'bad';
    return { keyId: actor.id, accountId, environment, grantId, lineage, exchangedAt };
  }

  protected override principalOf(claims: Claims, request: FastifyRequest): Principal | null {
    const token = platformToken(claims);
    return token !== null && request.headers.origin === token.origin ? token.principal : null;
  }
}
