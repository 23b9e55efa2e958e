// Content negotiation (RFC 9110, section 12.5.1).
import Negotiator from 'negotiator';
import { DomainError } from '../../kernel/domain-error.js';

/**
 * The offered media type that the `Accept` header prefers by its weights. Without a preference, it is the first offered type. Throws
 * `request.not_acceptable` when the caller accepts none. `offered` are media types without parameters.
 */
export function acceptedType<Type extends string>(accept: string | undefined, offered: readonly Type[]): Type {
  const [first] = offered;
  if (first !== undefined && (accept === undefined || accept === first || accept === '*/*')) return first;
  // Some callers name the charset with the type. All replies are UTF-8, so the type is the same.
  const spelled = [...offered, ...offered.map((type) => `${type};charset=utf-8`)];
  const header = accept === undefined || accept.trim() === '' ? '*/*' : accept;
  const best = new Negotiator({ headers: { accept: header } }).mediaType(spelled);
  const type = offered.find((one) => best === one || best?.startsWith(`${one};`) === true);
  if (type === undefined) throw new DomainError('request.not_acceptable');
  return type;
}
