/** The reasons for a refund, in their wire form. */
export const REFUND_REASONS = ['report_unavailable', 'requested_by_consumer', 'duplicate', 'other'] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];
