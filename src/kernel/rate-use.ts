/** One more use of what `key` names, of which a window has `limit`. A limit of 0 is none. */
export interface RateUse {
  /** May hold an address or the like: only a keyed hash of it is ever kept. */
  readonly key: string;
  readonly limit: number;
  readonly windowSeconds: number;
  /**
   * Of a window that strangers share: the client address, then the lineage of the caller. Beyond the limit a caller is refused
   * only if its address or its lineage has used a fair part, which is the limit divided by the addresses of the window. A
   * stranger that fills the window is shed so, and a newcomer passes.
   */
  readonly callers?: readonly string[];
  /** What the caller is told where this use is not left; a whole sentence. */
  readonly rule?: string;
}
