// How everything is said on the direct API: `{payload, errors}` (docs/contract/direct.md#envelope). For its controllers.
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

/** Below `/api/pay` the errors come first. */
export function paymentSuccess<Payload>(payload: Payload): SuccessEnvelope<Payload> {
  return { errors: [], payload };
}

/**
 * The body that passes a vendor's JSON text on, byte for byte; a controller returns it. 422 is for wrong answers: it looks like
 * success but for its status (docs/contract/direct.md#passthrough). Anything else that went wrong is thrown.
 */
export function passOn(reply: FastifyReply, json: string, status: 200 | 422 = 200): string {
  void reply.status(status).type('application/json; charset=utf-8');
  return envelopeAround(json, []);
}

/** `json` is the text of one JSON value. */
export function envelopeAround(json: string, errors: readonly NumericErrorItem[]): string {
  return `{"payload":${json},"errors":${JSON.stringify(errors)}}`;
}
