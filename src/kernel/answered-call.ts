/** How a vendor answered the call that led to an event. It contains no personal data. Absent fields are unknown. */
export interface AnsweredCall {
  /** The vendor's id. */
  readonly vendor: string;
  readonly operation: string;
  /** The kind of the verdict. */
  readonly outcome: string;
  /** The HTTP status of the last exchange, or a word when no answer came. */
  readonly end?: string;
  /** The vendor's number for its answer. */
  readonly code?: number;
  /** The vendor's id of the transaction. */
  readonly transactionId?: string;
  readonly billed?: boolean;
  readonly latencyMs: number;
}

/** The newest answer in the work of one context. The events after the answer have it in their metadata. */
export interface LastAnswer {
  answer?: AnsweredCall;
}
