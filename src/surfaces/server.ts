// The server API. Servers of integrating platforms call it with a secret key.
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Authenticator } from '../platform/http/authenticator.js';
import { defineSurface } from '../platform/http/surface.js';
import { AccessKeys } from '../published/access-keys.js';
import { FEED_ERRORS, GRANT_ERRORS, INCOME_ERRORS, REPORT_ERRORS, STRING_CODES } from './string-codes.js';
import { unauthenticated } from './token-refusal.js';

/** Accepts servers with an active secret key in `X-Secret-Key`. Any other request gets 401. */
@Injectable()
export class SecretKeys extends Authenticator {
  constructor(private readonly keys: AccessKeys) {
    super();
  }

  override async admit(request: FastifyRequest): Promise<void> {
    const key = request.headers['x-secret-key'];
    const holder = typeof key === 'string' ? await this.keys.authenticate('secret', key) : null;
    if (holder === null) throw unauthenticated(reasonOf(key));
    request.principal = {
      actor: { kind: 'secret-key', id: holder.keyId },
      accountId: holder.accountId,
      environment: holder.environment,
    };
  }
}

/** The prefix of another kind of key, of a session grant or of a bearer token. */
const OTHER_KIND = /^(?:(?:pk|ak|sgt)_(?:live|test)_|eyJ|Bearer )/;

/** Never says whether a key exists. */
function reasonOf(key: string | readonly string[] = ''): string {
  if (key.length === 0)
    return 'The X-Secret-Key header is missing. This API takes a secret key in it, and no other credential.';
  const [kind] = typeof key === 'string' ? (OTHER_KIND.exec(key) ?? []) : [];
  return kind === undefined
    ? 'The X-Secret-Key header holds no valid secret key.'
    : `The X-Secret-Key header holds a credential that begins with ${kind}. This API takes a secret key.`;
}

export const server = defineSurface({
  ...STRING_CODES,
  name: 'server',
  prefixes: {
    '/v1': {},
    '/v1/reports': REPORT_ERRORS,
    '/v1/income-sessions': INCOME_ERRORS,
    '/v1/sessions': GRANT_ERRORS,
    '/v1/events': FEED_ERRORS,
  },
  authenticator: SecretKeys,
  cors: null,
  document: {
    name: 'server',
    title: 'Secret-key server API',
    credentials: { 'secret-key': { type: 'apiKey', in: 'header', name: 'X-Secret-Key' } },
  },
});
