import type { FieldName } from './field-names.js';

/**
 * What a vendor answered, as it came, for surfaces that pass it on unchanged (docs/contract/direct.md#passthrough). Holds tokens and
 * personal data: in memory, sealed, or in the vault, and never logged.
 */
export interface VendorReply {
  /** The vendor's HTTP status. */
  readonly status: number;
  /** JSON text, byte for byte as the vendor wrote it. */
  readonly body: string;
  /** The vendor's number for what went wrong; null when it names none. */
  readonly code: number | null;
  /** The field that the vendor names beside it. */
  readonly field: FieldName | null;
  /** What the vendor says of that number, in words; null when it says nothing. */
  readonly message: string | null;
}

/** A verdict with the vendor's answer behind it; absent when it gave none, or one that says nothing of what was asked. */
export interface Replied {
  readonly reply?: VendorReply;
}

/** What the vendor was asked for. The same number of the vendor's may mean another error in another step. */
export type VendorStep = 'registration' | 'answers' | 'resend' | 'reauthentication' | 'report';
