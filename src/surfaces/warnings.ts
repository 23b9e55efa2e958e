// Tells developers the names of the fields that the service ignores (docs/contract/general.md#bodies).
import type { FastifyInstance } from 'fastify';
import { unknownFields } from '../platform/http/body-pipe.js';

const MOST_NAMED = 10;
/** A body may contain any name. A header repeats only plain names. */
const PLAIN = /^[A-Za-z0-9_.-]{1,64}$/;

/** The warnings are sent only in the test environment. */
export function warnOfUnknownFields(fastify: FastifyInstance): void {
  fastify.addHook('onSend', ({ body, principal }, reply, payload, done) => {
    const isTest = principal?.environment === 'test' && typeof body === 'object' && body !== null;
    const unknown = isTest ? unknownFields.get(body) : undefined;
    if (unknown) void reply.header('service-warnings', `unknown fields: ${listed(unknown)}`);
    done(null, payload);
  });
}

function listed(names: readonly string[]): string {
  const named = names.filter((name) => PLAIN.test(name)).slice(0, MOST_NAMED);
  const others = names.length - named.length;
  return [...named, ...(others > 0 ? [`${others} more`] : [])].join(', ');
}
