/** One use of the thing that `key` names. A window allows `limit` uses. The limit 0 means unlimited. */
export interface RateUse {
  /** It may hold an address. Only a keyed hash of it is kept. */
  readonly key: string;
  readonly limit: number;
  readonly windowSeconds: number;
  /**
   * For a window that strangers share: the client address, then the lineage of the caller. Beyond the limit, a caller is refused only if its address
   * or its lineage has used a fair part. The fair part is the limit divided by the number of addresses in the window. So a stranger that fills the
   * window is refused, and a newcomer passes.
   */
  readonly callers?: readonly string[];
  /** The sentence for a caller that has no use left. */
  readonly rule?: string;
}
