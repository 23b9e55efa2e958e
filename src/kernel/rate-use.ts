/** One use of the limited thing that `key` names. A window allows `limit` uses. The limit 0 means unlimited. */
export interface RateUse {
  /** The key may contain an address. Only a keyed hash of the key is kept. */
  readonly key: string;
  readonly limit: number;
  readonly windowSeconds: number;
  /**
   * For a window that strangers share: the client address, then the lineage of the caller's tokens. Beyond the limit, a caller is refused only if its
   * address or its lineage has used its fair part. The fair part is the limit divided by the number of addresses in the window. A stranger that fills
   * the window is therefore refused, and a new caller is allowed.
   */
  readonly callers?: readonly string[];
  /** The sentence for a caller that has used up its uses. */
  readonly rule?: string;
}
