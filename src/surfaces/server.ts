// The server API. Servers of integrating platforms call it with a secret key.
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../kernel/domain-error.js';
import { Authenticator } from '../platform/http/authenticator.js';
import { defineSurface } from '../platform/http/surface.js';
import { AccessKeys } from '../published/access-keys.js';
import { REPORT_ERRORS, STRING_CODES } from './string-codes.js';

/** Admits servers with an active secret key in `X-Secret-Key`. Any other request gets 401. */
@Injectable()
export class SecretKeys extends Authenticator {
  constructor(private readonly keys: AccessKeys) {
    super();
  }

  override async admit(request: FastifyRequest): Promise<void> {
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

export const server = defineSurface({
  ...STRING_CODES,
  name: 'server',
  prefixes: { '/v1': {}, '/v1/reports': REPORT_ERRORS },
  authenticator: SecretKeys,
  cors: null,
  document: {
    name: 'server',
    title: 'Secret-key server API',
    credentials: { 'secret-key': { type: 'apiKey', in: 'header', name: 'X-Secret-Key' } },
  },
});
