import type { FieldName } from './field-names.js';

/**
 * A vendor's answer, unchanged, for surfaces that pass it on (docs/contract/direct.md#passthrough). Such an answer contains tokens and personal data.
 * The answer is only in memory, encrypted or in the vault, and is never logged.
 */
export interface VendorReply {
  /** The vendor's HTTP status. */
  readonly status: number;
  /** JSON text, byte for byte as the vendor wrote it. */
  readonly body: string;
  /** The vendor's error number; null if the answer has none. */
  readonly code: number | null;
  /** The field that the vendor names with its number. */
  readonly field: FieldName | null;
  /** The vendor's text for that number; null if none exists. */
  readonly message: string | null;
}

/** A verdict with the vendor's answer. The answer is absent if the vendor gave none, or one that does not concern the request. */
export interface Replied {
  readonly reply?: VendorReply;
}

/** The request that the vendor answered. The same error number can mean another error in another step. */
export type VendorStep = 'registration' | 'answers' | 'resend' | 'reauthentication' | 'report';
