// Puts the API surfaces on a server, with everything that all routes of all surfaces share.
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Clock } from '../../kernel/clock.js';
import { IdempotencyRecords } from '../../ports/idempotency-records.js';
import type { Log } from '../observability/log.js';
import { authenticateFirst, AuthenticationGuard } from './authentication.js';
import { BodyPipe } from './body-pipe.js';
import { allowCrossOrigin } from './cors.js';
import { ErrorReplies } from './error-reply.js';
import { IdempotencyGuard, keepReplies } from './idempotency.js';
import { ReadableBodies } from './readable-body.js';
import type { Surfaces } from './surface.js';

/** Call this before the routes are registered. The server must have the same surfaces, and the application must have their authenticators. */
export function serveSurfaces(app: NestFastifyApplication, surfaces: Surfaces, log: Log): void {
  const fastify = app.getHttpAdapter().getInstance();
  allowCrossOrigin(fastify, surfaces);
  authenticateFirst(app, surfaces);
  keepReplies(fastify, log);
  const records = app.get(IdempotencyRecords, { strict: false });
  app.useGlobalGuards(new AuthenticationGuard(), new ReadableBodies(), new IdempotencyGuard(records));
  app.useGlobalPipes(new BodyPipe(app.get(Clock, { strict: false })));
  app.useGlobalFilters(new ErrorReplies(surfaces, log));
}
