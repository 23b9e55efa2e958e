import type { FastifyReply, FastifyRequest } from 'fastify';

/** Authenticates the callers of a surface, or of a route that names it. */
export abstract class Authenticator {
  /** Throws a domain error, or notes the caller on the request. It does not see the body. */
  abstract admit(request: FastifyRequest, reply: FastifyReply): void | Promise<void>;
}
