// The words of legal holds: the data that an erasure would destroy, and the kinds of holds.

/** `session`: a screening, or an income session without one. `person`: everything under a vault subject. `account`: everything of an account. */
export const HOLD_KINDS = ['session', 'person', 'account'] as const;
export type HoldKind = (typeof HOLD_KINDS)[number];

/** The data of one account that an erasure or a disposal would destroy. */
export interface HeldData {
  /** Null for data of no account, which no hold covers. */
  readonly accountId: string | null;
  /** Vault subjects. */
  readonly subjectIds: readonly string[];
  /** `all`: everything of the subjects would be destroyed. */
  readonly sessionIds: readonly string[] | 'all';
}

/** The data that an erasure destroys, by the object under which it is asked for. */
export interface Erasure extends HeldData {
  readonly kind: 'screening' | 'income-session' | 'party' | 'session-grant';
  readonly id: string;
}
