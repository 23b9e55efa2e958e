// Bodies that cannot be read are refused where all else has been looked at: an unknown route, a missing token or an ended
// endpoint is told first.
import type { IncomingHttpHeaders } from 'node:http';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route says itself what a body means that cannot be read. */
    anyBody?: true;
  }
}

/** Stands for a body of another media type, a body that is not UTF-8 or not JSON, and one that holds more than a body may hold. */
export const UNREADABLE = new DomainError('request.unreadable_body');
/** Stands for a body in a declared encoding or charset that is not read. */
export const UNSUPPORTED = new DomainError('request.unsupported_media_type');

/** US-ASCII is a part of UTF-8. */
const CHARSETS = ['utf-8', 'utf8', 'us-ascii'];

/** Whether the bytes of a body are its text in UTF-8, by what its headers declare. */
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

/** Runs on every route, after the callers were judged. */
export class ReadableBodies implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body, routeOptions } = context.switchToHttp().getRequest<FastifyRequest>();
    if (body instanceof DomainError && !routeOptions.config.anyBody) throw body;
    return true;
  }
}
