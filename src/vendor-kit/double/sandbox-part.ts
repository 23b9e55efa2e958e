// What the sandbox asks of a vendor's double, and how a double says that something is wrong.
import type { FastifyInstance, FastifyReply } from 'fastify';

/** One vendor: its routes, and what it must put away at the end. */
export interface SandboxPart {
  mount(server: FastifyInstance): void;
  close(): void;
}

/**
 * The body of every answer that is no success. `code` is a number of the upstream's own list, or a word for errors of
 * the HTTP interface itself. Messages never quote what was sent.
 */
export interface ErrorBody {
  readonly error: {
    readonly code: number | string;
    readonly message: string;
    readonly field?: string;
  };
}

export function sendError(
  reply: FastifyReply,
  status: number,
  code: number | string,
  message: string,
  field?: string,
): FastifyReply {
  return reply
    .code(status)
    .send({ error: { code, message, ...(field === undefined ? {} : { field }) } } satisfies ErrorBody);
}
