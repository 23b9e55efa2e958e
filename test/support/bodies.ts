// Reads bodies like the service, without a server.
import type { Type } from '@nestjs/common';
import { DomainError } from '../../src/kernel/domain-error.js';
import { BodyPipe } from '../../src/platform/http/body-pipe.js';
import { clockOf } from './clock.js';

export async function readBody<Body>(type: Type<Body>, given: unknown, now: Date): Promise<Body> {
  return (await new BodyPipe(clockOf(() => now)).transform(given, { type: 'body', metatype: type })) as Body;
}

/** Returns the error that refuses the body. Fails if the body is accepted. */
export async function refusedBody(type: Type, given: unknown, now: Date): Promise<DomainError> {
  try {
    await readBody(type, given, now);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('The body was accepted');
}
