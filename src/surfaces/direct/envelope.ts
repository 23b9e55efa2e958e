// The envelope of the direct API, `{payload, errors}` (docs/contract/direct.md#envelope). Controllers of the direct API answer with this envelope.
import type { FastifyReply } from 'fastify';

export interface NumericErrorItem {
  readonly errorCode: number;
  readonly errorOnField: string | null;
  readonly errorMessage: string;
}

export interface SuccessEnvelope<Payload> {
  readonly payload: Payload;
  readonly errors: readonly never[];
}

export function success<Payload>(payload: Payload): SuccessEnvelope<Payload> {
  return { payload, errors: [] };
}

/** Puts the errors first, like routes below `/api/pay`. */
export function paymentSuccess<Payload>(payload: Payload): SuccessEnvelope<Payload> {
  return { errors: [], payload };
}

/**
 * Makes the vendor's JSON text the body of the reply, byte for byte. A controller returns the result. Status 422 means that the person's answers were
 * wrong: apart from the status, the reply looks like a success (docs/contract/direct.md#passthrough). Every other failure is thrown.
 */
export function passOn(reply: FastifyReply, json: string, status: 200 | 422 = 200): string {
  void reply.status(status).type('application/json; charset=utf-8');
  return envelopeAround(json, []);
}

/** `json` is the text of one JSON value. */
export function envelopeAround(json: string, errors: readonly NumericErrorItem[]): string {
  return `{"payload":${json},"errors":${JSON.stringify(errors)}}`;
}
