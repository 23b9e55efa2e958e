import type { FastifyReply, FastifyRequest } from 'fastify';

/** Authenticates the callers of a surface, or of a route that names this authenticator. */
export abstract class Authenticator {
  /** Throws a domain error, or stores the caller on the request. The authenticator gets no access to the body. */
  abstract admit(request: FastifyRequest, reply: FastifyReply): void | Promise<void>;
}
