import { createParamDecorator, type ExecutionContext, Param } from '@nestjs/common';
import { MetadataScanner } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { nameFor } from '../../../../platform/http/idempotency.js';
import { contextOf, type RequestContext } from '../../../../platform/http/principal.js';
import { passOn } from '../../../../surfaces/direct/envelope.js';
import type { NamedParty } from '../../application/party-access.js';
import type { PartyAnswer } from '../../application/party-answer.js';

/** A request about a party, with its caller and the way to answer it. */
export interface PartyCall {
  readonly context: RequestContext;
  /** The id of the session or attempt that the request makes. */
  readonly name: string;
  /** The body of the reply. It is kept for repeated requests, at most until the person in it is erased. */
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

/** Makes the id in the path the first argument of every route. The paths of controllers that share a route have different names for it. */
export const IdIn =
  (parameter: `${NamedParty['kind']}Id`): ClassDecorator =>
  ({ prototype }) => {
    for (const route of new MetadataScanner().getAllMethodNames(prototype as object))
      Param(parameter)(prototype as object, route, 0);
  };
