import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiHeader } from '@nestjs/swagger';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The metadata key that `ChangesState` sets. */
    changesState?: true;
  }
}

/** Describes the header for every route that accepts it (docs/contract/general.md#idempotency-keys). */
export const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  required: false,
  description: 'A repeated key and body gets the first reply, for an hour in pages and for 24 hours elsewhere',
  schema: { type: 'string' as const },
};

/** For a GET that changes something. Such a route accepts idempotency keys like a POST, and a read-only copy of the service refuses it. */
export const ChangesState = (): MethodDecorator =>
  applyDecorators(RouteConfig({ changesState: true }), ApiHeader(IDEMPOTENCY_KEY));
