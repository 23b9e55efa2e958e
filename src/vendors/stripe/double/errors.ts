// The processor's errors, in the form that its clients expect.

export type ErrorType = 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error' | 'rate_limit_error';

export interface ErrorObject {
  readonly type: ErrorType;
  readonly message: string;
  readonly code?: string;
  readonly decline_code?: string;
  readonly param?: string;
  /** The intent of the call, in its present state. */
  readonly payment_intent?: object;
}

/** Messages name parameters and never quote their values. */
export class ProcessorError extends Error {
  override readonly name = 'ProcessorError';

  constructor(
    readonly status: number,
    readonly error: ErrorObject,
  ) {
    super(error.message);
  }
}

export function invalid(param: string, code: string | null, message: string): ProcessorError {
  return new ProcessorError(400, { type: 'invalid_request_error', message, param, ...(code === null ? {} : { code }) });
}

export function missing(what: string, param: string, status: 400 | 404 = 404): ProcessorError {
  return new ProcessorError(status, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${what}`,
    param,
  });
}

export function unexpectedState(doing: string, intent: { readonly status: string }, object: object): ProcessorError {
  const message = `You cannot ${doing} this PaymentIntent because it has a status of ${intent.status}.`;
  return new ProcessorError(400, {
    type: 'invalid_request_error',
    code: 'payment_intent_unexpected_state',
    message,
    payment_intent: object,
  });
}
