import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../kernel/refusal.js';
import { AccessKeys } from '../../published/access-keys.js';

/** Lets in servers with an active secret key in `X-Secret-Key`; anything else is 401. */
@Injectable()
export class SecretKeyGuard implements CanActivate {
  constructor(private readonly keys: AccessKeys) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = request.headers['x-secret-key'];
    const holder = typeof key === 'string' ? await this.keys.authenticate('secret', key) : null;
    if (holder === null) throw new Refusal('request.unauthenticated');
    request.principal = { actor: { kind: 'secret-key', id: holder.keyId }, accountId: holder.accountId, environment: holder.environment };
    return true;
  }
}
