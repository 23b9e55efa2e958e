import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Authenticator } from '../../../../platform/http/authenticator.js';
import { AccessKeys } from '../../../../published/access-keys.js';
import { type Exchange, quotaWithoutKey, TokenOptions } from '../../application/exchange-token.js';

/** Lets in pages with a publishable key that there is. Whether it may be exchanged from there and now is for the exchange to say. */
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

/** Every reply of the exchange tells it. */
export function tellQuota(reply: FastifyReply, { limit, remaining, resetSeconds }: Exchange['quota']): void {
  // Without a limit there is nothing to tell.
  if (limit > 0)
    void reply.headers({ 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': resetSeconds });
}
