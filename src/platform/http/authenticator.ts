import type { FastifyReply, FastifyRequest } from 'fastify';

/** Judges the callers of a surface, or of a route that says so. */
export abstract class Authenticator {
  /** Throws the refusal, or notes on the request what is known of its caller. Sees no body. */
  abstract admit(request: FastifyRequest, reply: FastifyReply): void | Promise<void>;
}
