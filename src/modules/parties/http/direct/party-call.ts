import { createParamDecorator, type ExecutionContext, Param } from '@nestjs/common';
import { MetadataScanner } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { nameFor } from '../../../../platform/http/idempotency.js';
import { contextOf, type RequestContext } from '../../../../platform/http/principal.js';
import { passOn } from '../../../../surfaces/direct/envelope.js';
import type { NamedParty } from '../../application/party-access.js';
import type { PartyAnswer } from '../../application/party-answer.js';

/** A request about a party, with its caller and the function that answers it. */
export interface PartyCall {
  readonly context: RequestContext;
  /** The id of the session or attempt that the request creates. */
  readonly name: string;
  /** The body of the reply. Repeated requests get the same body, at most until its person is erased. */
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

/** Passes the id in the path as the first argument of every route. Controllers that share a route use different names for this id. */
export const IdIn =
  (parameter: `${NamedParty['kind']}Id`): ClassDecorator =>
  ({ prototype }) => {
    for (const route of new MetadataScanner().getAllMethodNames(prototype as object))
      Param(parameter)(prototype as object, route, 0);
  };
