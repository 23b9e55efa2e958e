import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import { AccessKeys } from '../../published/access-keys.js';
import { Authenticator } from './authentication.js';

/** Lets in servers with an active secret key in `X-Secret-Key`; anything else is 401. */
@Injectable()
export class SecretKeyGuard extends Authenticator {
  constructor(private readonly keys: AccessKeys) {
    super();
  }

  override async authenticate(request: FastifyRequest): Promise<void> {
    const key = request.headers['x-secret-key'];
    const holder = typeof key === 'string' ? await this.keys.authenticate('secret', key) : null;
    if (holder === null) throw new DomainError('request.unauthenticated');
    request.principal = {
      actor: { kind: 'secret-key', id: holder.keyId },
      accountId: holder.accountId,
      environment: holder.environment,
    };
  }
}
