import type { ErrorCode } from './error-codes.js';
import type { FieldName } from './field-names.js';
import type { VendorReply, VendorStep } from './vendor-reply.js';

export interface DomainErrorDetail {
  /** The field at fault: a `FieldName`, or a name in the body class that refuses it. */
  readonly field?: string;
  /** Every field at fault and its rule, such as `must have five digits`. Messages never quote the value. */
  readonly details?: readonly { readonly field: string; readonly message: string }[];
  /** The broken rule as a whole sentence, when no field of the request carries it. */
  readonly rule?: string;
  /** The screening session that the refused request has opened. */
  readonly sessionId?: string;
  /** Set when the refused session has ended BLOCKED. `reasonCode` is the reason, where the browser may know it. */
  readonly block?: { readonly reasonCode: string | undefined };
  /** The bureau's reason to give no report (docs/contract/platform.md#a-report-that-the-bureau-refuses). */
  readonly reasonCode?: string;
  /** Whole seconds until another try makes sense. */
  readonly retryAfterSeconds?: number;
  /** The methods that the path takes. */
  readonly methods?: readonly string[];
  /** The end of the block that the request met, ISO 8601 UTC. */
  readonly blockedUntil?: string;
  /**
   * The vendor's answer and the step that it answers. Only surfaces that pass vendors' answers on show it. `subject` names the person in the vault.
   */
  readonly vendor?: { readonly reply: VendorReply; readonly step: VendorStep; readonly subject?: string };
  /** For the log only, never for the caller. */
  readonly cause?: unknown;
}

/** A rule was not met. Domain and application throw no other exception on purpose. */
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
