// Refuses unreadable bodies after all other checks. An unknown route, a missing token or a retired endpoint is therefore reported first.
import type { IncomingHttpHeaders } from 'node:http';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route itself decides what an unreadable body means. */
    anyBody?: true;
  }
}

/** Stands for a body of another media type. */
export const OF_ANOTHER_TYPE = new DomainError('request.media_type');
/** Stands for a body that is not UTF-8 or not JSON, or that exceeds the limits of its content. */
export const UNREADABLE = new DomainError('request.unreadable_body');
/** Stands for a body in a declared encoding or charset that the service does not read. */
export const UNSUPPORTED = new DomainError('request.unsupported_media_type');

/** US-ASCII is a subset of UTF-8. */
const CHARSETS = ['utf-8', 'utf8', 'us-ascii'];

/** Whether the headers declare the body as plain UTF-8 text. */
export function isPlainUtf8({
  'content-type': type = '',
  'content-encoding': encodings = '',
}: IncomingHttpHeaders): boolean {
  const charsets = [...type.matchAll(/;\s*charset\s*=([^;]*)/gi)].map(([, value = '']) =>
    value.replace(/[\s"'\\]/g, ''),
  );
  return (
    charsets.every((charset) => CHARSETS.includes(charset.toLowerCase())) &&
    encodings.split(',').every((encoding) => ['', 'identity'].includes(encoding.trim().toLowerCase()))
  );
}

/** The only way to write half of a surrogate pair in JSON. */
const MAYBE_HALF = /\\u[dD][89a-fA-F]/;
const PLAIN_NAME = /^[A-Za-z_][\w.-]{0,63}$/;

/** The parsed body, or an error when a text in it contains half of a surrogate pair. A text with such a half can neither be stored nor sent on. */
export function wellFormed(json: string, body: unknown): unknown {
  if (!MAYBE_HALF.test(json) || !holdsHalf(body)) return body;
  const [field = ''] = Object.entries(body as object).find(holdsHalf) ?? [];
  const rule = 'must be well-formed Unicode, without half of a surrogate pair';
  return new DomainError(
    'request.invalid',
    PLAIN_NAME.test(field) ? { field, details: [{ field, message: rule }] } : { rule: `Every text ${rule}.` },
  );
}

function holdsHalf(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return (Array.isArray(value) ? value : Object.entries(value)).some(holdsHalf);
}

/** Runs on every route, after authentication. */
export class ReadableBodies implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body, routeOptions } = context.switchToHttp().getRequest<FastifyRequest>();
    if (body instanceof DomainError && !routeOptions.config.anyBody) throw body;
    return true;
  }
}
