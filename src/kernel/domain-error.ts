import type { ErrorCode } from './error-codes.js';
import type { FieldName } from './field-names.js';
import type { VendorRefusal } from './refused-input.js';
import type { VendorReply, VendorStep } from './vendor-reply.js';

export interface DomainErrorDetail {
  /** The wrong field: a `FieldName`, or a name in the body class that refuses it. */
  readonly field?: string;
  /** Every wrong field and the rule that it breaks, such as `must have five digits`. Messages never quote the value. */
  readonly details?: readonly { readonly field: string; readonly message: string }[];
  /** The broken rule as a whole sentence, when the rule concerns no field of the request. */
  readonly rule?: string;
  /** The screening session that the refused request has opened. */
  readonly sessionId?: string;
  /** Set when the refused session has ended BLOCKED. `reasonCode` is the reason, if the browser may learn it. */
  readonly block?: { readonly reasonCode: string | undefined };
  /** The bureau's reason for refusing the report (docs/contract/platform.md#a-report-that-the-bureau-refuses). */
  readonly reasonCode?: string;
  /** The whole seconds until another try can succeed. */
  readonly retryAfterSeconds?: number;
  /** The methods that the path accepts. */
  readonly methods?: readonly string[];
  /** The end of the block that refused the request, ISO 8601 UTC. */
  readonly blockedUntil?: string;
  /**
   * The vendor's answer and the step to which it belongs. Only surfaces that pass on vendors' answers show this answer. Without an answer that can be
   * passed on, `refusal` is the vendor's decision. `subject` is the vault subject.
   */
  readonly vendor?: { readonly step: VendorStep; readonly subject?: string } & (
    { readonly reply: VendorReply } | { readonly reply: null; readonly refusal: VendorRefusal }
  );
  /** For the log only, never for the caller. */
  readonly cause?: unknown;
}

/** The error for a rule that was not met. Domain and application intentionally throw no other exception. */
export class DomainError extends Error {
  override readonly name = 'DomainError';

  constructor(
    readonly code: ErrorCode,
    readonly detail: DomainErrorDetail = {},
  ) {
    super(code, detail.cause === undefined ? undefined : { cause: detail.cause });
  }
}

/** Refuses one field. The message states the rule, such as `must have five digits`, and never quotes the value. */
export function fieldError(code: ErrorCode, field: FieldName, message: string): DomainError {
  return new DomainError(code, { field, details: [{ field, message }] });
}
