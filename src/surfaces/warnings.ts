// Tells developers the names of the fields and query parameters that the service ignores (docs/contract/general.md#bodies).
import type { FastifyInstance } from 'fastify';
import { unknownFields } from '../platform/http/body-pipe.js';

const MOST_NAMED = 10;
/** A body may contain any name. A header repeats only plain names. */
const PLAIN = /^[A-Za-z0-9_.-]{1,64}$/;

/** The warnings are sent only in the test environment. */
export function warnOfUnknownFields(fastify: FastifyInstance): void {
  fastify.addHook('onSend', ({ body, query, principal }, reply, payload, done) => {
    const isTest = principal?.environment === 'test';
    const warnings = isTest ? [...warningsOf('fields', body), ...warningsOf('query parameters', query)] : [];
    if (warnings.length > 0) void reply.header('service-warnings', warnings.join('; '));
    done(null, payload);
  });
}

function warningsOf(kind: string, given: unknown): readonly string[] {
  const unknown = typeof given === 'object' && given !== null ? unknownFields.get(given) : undefined;
  return unknown ? [`unknown ${kind}: ${listed(unknown)}`] : [];
}

function listed(names: readonly string[]): string {
  const named = names.filter((name) => PLAIN.test(name)).slice(0, MOST_NAMED);
  const others = names.length - named.length;
  return [...named, ...(others > 0 ? [`${others} more`] : [])].join(', ');
}
