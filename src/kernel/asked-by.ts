/**
 * The request that led to an event, without personal data. The hashes are keyed, so they reveal nothing without the key of the installation. The same
 * caller has the same hashes in all events. The vault keeps the clear text under the person (`keepCaller`).
 */
export interface AskedBy {
  /** The id of the caller's platform or dashboard token. Absent for a caller with a key, which the actor names. */
  readonly tokenId?: string;
  /** The origin of the page to which the platform token was issued. */
  readonly origin?: string;
  /** Absent, like `agentHash`, if the vault was unavailable. */
  readonly addressHash?: string;
  /** Absent if the request named no user agent. */
  readonly agentHash?: string;
}

/** The caller in clear text. Both are personal data. */
export interface Caller {
  readonly address: string;
  readonly agent: string | null;
}
