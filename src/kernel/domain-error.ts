import type { ErrorCode } from './error-codes.js';
import type { FieldName } from './field-names.js';
import type { VendorReply, VendorStep } from './vendor-reply.js';

export interface DomainErrorDetail {
  /** The field at fault: a `FieldName`, or a name of the body class that refuses it. */
  readonly field?: string;
  /** Every field at fault and its rule, such as `must have five digits`. Messages never quote the value. */
  readonly details?: readonly { readonly field: string; readonly message: string }[];
  /** The rule that was broken, a whole sentence, where no field of the request stands for it. */
  readonly rule?: string;
  /** The screening session that the refused request has opened. */
  readonly sessionId?: string;
  /** The refusal is that this session ended BLOCKED. `reasonCode`: why, where the browser may know. */
  readonly block?: { readonly reasonCode: string | undefined };
  /** Why the bureau gives no report: one of the reasons in docs/contract/platform.md#a-report-that-the-bureau-refuses. */
  readonly reasonCode?: string;
  /** Whole seconds after which trying again makes sense. */
  readonly retryAfterSeconds?: number;
  /** ISO 8601 UTC: when the block ends that the request met. */
  readonly blockedUntil?: string;
  /** What the vendor said, and to what. Only surfaces that pass vendors' answers on show it. `subject`: whom it tells of, in the vault. */
  readonly vendor?: { readonly reply: VendorReply; readonly step: VendorStep; readonly subject?: string };
  /** For the log only, never for the caller. */
  readonly cause?: unknown;
}

/** It may not happen. The one exception that domain and application throw on purpose. */
export class DomainError extends Error {
  override readonly name = 'DomainError';

  constructor(
    readonly code: ErrorCode,
    readonly detail: DomainErrorDetail = {},
  ) {
    super(code, detail.cause === undefined ? undefined : { cause: detail.cause });
  }
}

/** Refuses one field. The message says the rule, such as `must have five digits`, and never quotes the value. */
export function fieldError(code: ErrorCode, field: FieldName, message: string): DomainError {
  return new DomainError(code, { field, details: [{ field, message }] });
}
