// The direct API. Servers of integrators that collect and protect personal data themselves call it with an API key.
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../kernel/domain-error.js';
import { Authenticator } from '../platform/http/authenticator.js';
import { defineSurface } from '../platform/http/surface.js';
import { AccessKeys } from '../published/access-keys.js';
import { NUMERIC_CODES, PAYMENT_ERRORS } from './direct/numeric-codes.js';

/** Accepts servers with an active API key in `X-API-KEY`. Any other request gets 403 with the number 324. */
@Injectable()
export class ApiKeys extends Authenticator {
  constructor(private readonly keys: AccessKeys) {
    super();
  }

  override async admit(request: FastifyRequest): Promise<void> {
    const key = request.headers['x-api-key'];
    const holder = typeof key === 'string' ? await this.keys.authenticate('api', key) : null;
    if (holder === null) throw new DomainError('request.unauthenticated');
    const { keyId, accountId, environment, clientClass } = holder;
    request.principal = {
      actor: { kind: 'api-key', id: keyId },
      accountId,
      environment,
      ...(clientClass !== undefined && { clientClass }),
    };
  }
}

export const direct = defineSurface({
  ...NUMERIC_CODES,
  name: 'direct',
  // The last prefix includes every other path below `/api`, so that a mistyped path gets the envelope too.
  prefixes: { '/api/idv': {}, '/api/pay': PAYMENT_ERRORS, '/api': {} },
  authenticator: ApiKeys,
  cors: null,
  document: {
    name: 'direct',
    title: 'Direct API',
    credentials: { 'api-key': { type: 'apiKey', in: 'header', name: 'X-API-KEY' } },
  },
});
