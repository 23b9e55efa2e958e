/** One more use of what `key` names, of which a window has `limit`. A limit of 0 is none. */
export interface RateUse {
  /** May hold an address or the like: only a keyed hash of it is ever kept. */
  readonly key: string;
  readonly limit: number;
  readonly windowSeconds: number;
}
