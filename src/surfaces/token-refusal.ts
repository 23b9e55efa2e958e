// Tells callers of a surface with bearer tokens what is wrong with their token (docs/contract/general.md#errors).
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../kernel/domain-error.js';

/** The caller sent a key or a session grant instead of a token. */
const OTHER_KIND = /^(?:\w+ +)?((?:pk|sk|ak|sgt)_(?:live|test)_)/;

export const unauthenticated = (rule: string): DomainError => new DomainError('request.unauthenticated', { rule });

/** The refusal of a token that was altered, revoked or never issued. A stranger does not learn the reason. */
export const noTokenOfOurs = (): DomainError =>
  unauthenticated('The Authorization header holds no bearer token that this service has issued.');

/** `reason`: see `BearerStrategy.refusal`. The library checks the signature first, so other reasons concern only tokens of the service. */
export function tokenRefusal({ headers }: Pick<FastifyRequest, 'headers'>, reason: unknown): DomainError {
  const { authorization = '' } = headers;
  if (authorization === '')
    return unauthenticated('The Authorization header is missing. This API takes a bearer token in it.');
  const kind = OTHER_KIND.exec(authorization)?.[1];
  if (kind !== undefined)
    return unauthenticated(
      `The Authorization header holds a credential that begins with ${kind}. This API takes a bearer token.`,
    );
  const { expiredAt, message = '' } = (reason ?? {}) as { readonly expiredAt?: Date; readonly message?: string };
  if (expiredAt !== undefined && expiredAt.getTime() > 0)
    return unauthenticated(`The token expired at ${expiredAt.toISOString()}.`);
  return message.startsWith('jwt audience')
    ? unauthenticated('The token is for another API of this service.')
    : noTokenOfOurs();
}
