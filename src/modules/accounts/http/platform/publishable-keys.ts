import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Authenticator } from '../../../../platform/http/authenticator.js';
import { AccessKeys } from '../../../../published/access-keys.js';
import { type Exchange, quotaWithoutKey, TokenOptions } from '../../application/exchange-token.js';

/** Accepts pages with a known publishable key. The exchange decides whether this page may use the key now. */
@Injectable()
export class PublishableKeys extends Authenticator {
  constructor(
    private readonly keys: AccessKeys,
    private readonly options: TokenOptions,
  ) {
    super();
  }

  override async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const key = request.headers['x-publishable-key'];
    if (typeof key === 'string' && key !== '' && (await this.keys.publishable(key)) !== null) return;
    tellQuota(reply, quotaWithoutKey(this.options));
    throw new DomainError(key === undefined || key === '' ? 'token.key_missing' : 'token.key_invalid');
  }
}

/** Every reply of the exchange reports its quota. */
export function tellQuota(reply: FastifyReply, { limit, remaining, resetSeconds }: Exchange['quota']): void {
  // Without a limit the reply has no quota.
  if (limit > 0)
    void reply.headers({ 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': resetSeconds });
}
