// The purpose that a request for a report names in its query (docs/contract/general.md#purposes).
import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { fieldError } from '../../kernel/domain-error.js';
import { END_USER_TYPES } from '../../kernel/end-user-type.js';
import type { FieldName } from '../../kernel/field-names.js';
import { PERMISSIBLE_PURPOSES } from '../../kernel/permissible-purpose.js';
import { contextOf, type RequestContext } from '../../platform/http/principal.js';

/** The caller, with the purpose that the query names. */
export function readContextOf(request: FastifyRequest): RequestContext {
  const { purpose, endUserType } = request.query as Readonly<Record<string, unknown>>;
  const named = {
    purpose: oneOf(PERMISSIBLE_PURPOSES, purpose, 'screening.purpose'),
    endUserType: oneOf(END_USER_TYPES, endUserType, 'screening.endUserType'),
  };
  return { ...contextOf(request), named };
}

export const CurrentReadContext = createParamDecorator((_: unknown, execution: ExecutionContext): RequestContext =>
  readContextOf(execution.switchToHttp().getRequest<FastifyRequest>()),
);

/** Describes the query. */
export function ApiReadPurpose(): MethodDecorator {
  const described = (name: string, values: readonly string[], description: string): MethodDecorator =>
    ApiQuery({ name, required: false, enum: values, description });
  return applyDecorators(
    described('purpose', PERMISSIBLE_PURPOSES, 'Purpose of the read, unless the session or its grant names one'),
    described('endUserType', END_USER_TYPES, 'Kind of end user, unless the session or its grant names one'),
  );
}

/** Null for an absent and an empty value. A repeated parameter arrives as a list and is refused. */
function oneOf<Value extends string>(values: readonly Value[], given: unknown, field: FieldName): Value | null {
  if (given === undefined || given === '') return null;
  const known = values.find((value) => value === given);
  if (known === undefined)
    throw fieldError('request.invalid', field, `must be one of ${values.join(', ')}, given once`);
  return known;
}
