// Describes the errors of the direct API's routes, status by status (docs/contract/direct.md#errors).
import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { NumericErrorResult } from './numeric-codes.js';

/** Every route may answer with these errors. */
const ALWAYS = {
  400: 'A field is missing or invalid, the body cannot be read, or the vendor refused the request',
  403: 'The API key is missing or invalid',
  404: 'A party is unknown, or the path',
  429: 'Too many requests; `Retry-After` says when to come back',
  500: "A fault of the service, or a number of the vendor's that has this status",
  503: 'Temporarily unavailable; `Retry-After` says when to come back',
} as const;

const SOMETIMES = {
  401: 'Somebody is not authenticated, or by the vendor already',
  402: 'The renter has not paid, or the prepaid credit is used up; the payload says which',
  406: 'Neither JSON nor HTML is accepted',
  409: 'It was done before, is being done, or the account is not provisioned for live traffic',
  413: 'The body is too large',
  422: 'The vendor refused the person; the payload is what it said',
  423: 'Wrong answers have locked somebody out; the message says until when',
  502: 'The vendor could not be reached, or gave an answer that is none',
  504: 'The vendor did not answer in time, or its session is over',
} as const;

/** `more`: statuses with which the routes may answer in addition to the common ones. For a route or a controller. */
export function ApiRefusals(...more: readonly (keyof typeof SOMETIMES)[]): ClassDecorator & MethodDecorator {
  const described = [...Object.entries(ALWAYS), ...more.map((status) => [status, SOMETIMES[status]] as const)];
  return applyDecorators(
    ...described.map(([status, description]) =>
      ApiResponse({ status: Number(status), description, type: NumericErrorResult }),
    ),
  );
}
