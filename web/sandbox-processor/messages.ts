// The messages between the library on the page and its frames, over a MessagePort. Both ends treat messages as unknown values.

/** Sent to the frame's window with the port when the frame has loaded. */
export const PORT_MESSAGE = 'sandbox-processor:port';

/** A parameter in the address of a frame: the origin of the page whose port the frame accepts. */
export const EMBEDDER_PARAMETER = 'embedder';

/** The time limit for a frame to load. */
export const FRAME_WITHIN_MS = 15_000;

export interface ErrorObject {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly decline_code?: string;
  readonly param?: string;
  readonly payment_intent?: PaymentIntent;
}

export interface PaymentIntent {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
  readonly currency: string;
  readonly client_secret: string | null;
  readonly next_action: { readonly type: string } | null;
  readonly last_payment_error: Omit<ErrorObject, 'payment_intent'> | null;
}

/** The result of every call that got no answer. */
export const NOT_REACHED: ErrorObject = {
  type: 'api_connection_error',
  message:
    'We are experiencing issues connecting to our payments provider. Please check your internet connection and try again.',
};

export type PaymentIntentResult =
  | { readonly paymentIntent: PaymentIntent; readonly error?: never }
  | { readonly error: ErrorObject; readonly paymentIntent?: never };

export type SubmitResult =
  | { readonly selectedPaymentMethod: string; readonly error?: never }
  | { readonly error: ErrorObject; readonly selectedPaymentMethod?: never };

/** The intent, and the caller's key. */
export interface Access {
  readonly key: string;
  readonly clientSecret: string;
}

export interface Appearance {
  readonly theme?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** The appearance of a frame. */
export interface Look {
  readonly locale: string;
  readonly appearance: Appearance;
}

/** The library's requests to a frame: the method's parameter, and its result. */
export interface Methods {
  /** Shows the card fields of an intent, or the step that authenticates its payment. */
  readonly start: [Access & Look, null];
  readonly look: [Look, null];
  readonly focus: [null, null];
  readonly blur: [null, null];
  readonly clear: [null, null];
  readonly submit: [null, SubmitResult];
  readonly confirm: [null, PaymentIntentResult];
  /** Ends the authentication step as failed. */
  readonly cancel: [null, null];
  readonly retrieve: [Access, PaymentIntentResult];
}
export type Method = keyof Methods;

/** Messages that a frame sends without a request. */
export type FrameEvent =
  | { readonly event: 'ready' | 'focus' | 'blur' | 'escape' | 'enter' }
  | { readonly event: 'height'; readonly height: number }
  | { readonly event: 'change'; readonly complete: boolean; readonly empty: boolean }
  | { readonly event: 'loaderror'; readonly error: ErrorObject }
  /** The authentication step has ended. */
  | { readonly event: 'authenticated'; readonly result: PaymentIntentResult };

export interface Question {
  readonly question: number;
  readonly method: string;
  readonly parameter: unknown;
}

export interface Reply {
  readonly reply: number;
  readonly result: unknown;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function readQuestion(data: unknown): Question | null {
  if (!isRecord(data) || typeof data['question'] !== 'number' || typeof data['method'] !== 'string') return null;
  return { question: data['question'], method: data['method'], parameter: data['parameter'] };
}

export function readReply(data: unknown): Reply | null {
  return isRecord(data) && typeof data['reply'] === 'number' ? { reply: data['reply'], result: data['result'] } : null;
}

/** Null for any other value. */
export function readFrameEvent(data: unknown): FrameEvent | null {
  if (!isRecord(data)) return null;
  switch (data['event']) {
    case 'ready':
    case 'focus':
    case 'blur':
    case 'escape':
    case 'enter':
      return { event: data['event'] };
    case 'height':
      return typeof data['height'] === 'number' ? { event: 'height', height: data['height'] } : null;
    case 'change':
      return { event: 'change', complete: data['complete'] === true, empty: data['empty'] === true };
    case 'loaderror':
      return isRecord(data['error']) ? { event: 'loaderror', error: data['error'] as unknown as ErrorObject } : null;
    case 'authenticated':
      return isRecord(data['result'])
        ? { event: 'authenticated', result: data['result'] as unknown as PaymentIntentResult }
        : null;
    default:
      return null;
  }
}
