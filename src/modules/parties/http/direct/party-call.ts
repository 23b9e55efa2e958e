import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { nameFor } from '../../../../platform/http/idempotency.js';
import { contextOf, type RequestContext } from '../../../../platform/http/principal.js';
import { passOn } from '../../../../surfaces/direct/envelope.js';
import type { PartyAnswer } from '../../application/party-answer.js';

/** A request about a party: on whose behalf, and how it is answered. */
export interface PartyCall {
  readonly context: RequestContext;
  /** Names what the request makes. */
  readonly name: string;
  /** The body of the reply. It is kept for repetitions no longer than the data of the person whom it tells of. */
  answered(answer: PartyAnswer): string;
}

export const CurrentCall = createParamDecorator((_: unknown, execution: ExecutionContext): PartyCall => {
  const http = execution.switchToHttp();
  const request = http.getRequest<FastifyRequest>();
  const reply = http.getResponse<FastifyReply>();
  return {
    context: contextOf(request),
    name: nameFor(request),
    answered({ json, accepted, subjectId }) {
      request.dataSubject = subjectId;
      return passOn(reply, json, accepted ? 200 : 422);
    },
  };
});
