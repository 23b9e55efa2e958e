import { RouteConfig } from '@nestjs/platform-fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The metadata key that `ChangesState` sets. */
    changesState?: true;
  }
}

/** For a GET that changes something. Such a route accepts idempotency keys like a POST, and a read-only copy of the service refuses it. */
export const ChangesState = (): MethodDecorator => RouteConfig({ changesState: true });
