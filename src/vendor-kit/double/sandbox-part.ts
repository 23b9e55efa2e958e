// The interface of a vendor's test double in the sandbox, and the form of its errors.
import type { FastifyInstance, FastifyReply } from 'fastify';

/** One vendor: its routes, and its cleanup at the end. */
export interface SandboxPart {
  mount(server: FastifyInstance): void;
  close(): void;
}

/** The body of every error. `code`: a number of the vendor's list, or a word for errors of the HTTP interface. Messages never quote the request. */
export interface ErrorBody {
  readonly error: {
    readonly code: number | string;
    readonly message: string;
    readonly field?: string;
  };
}

export function sendError(reply: FastifyReply, status: number, code: number | string, message: string): FastifyReply {
  return reply.code(status).send({ error: { code, message } } satisfies ErrorBody);
}
