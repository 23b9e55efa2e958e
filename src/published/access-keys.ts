import type { Environment } from '../kernel/environment.js';

/** Whose key it is. */
export interface KeyHolder {
  /** Names the key in events and logs; not part of what must be kept secret. */
  readonly keyId: string;
  readonly accountId: string;
  readonly environment: Environment;
  /** Of API keys only: what reports default to, HTML for a partner, JSON for a first party. */
  readonly clientClass?: 'partner' | 'first_party';
}

export interface PublishableKey extends KeyHolder {
  readonly active: boolean;
  readonly allowedOrigins: readonly string[];
  /** Token exchanges a minute by the key's own limit, else its account's; null for the installation's. */
  readonly exchangesPerMinute: number | null;
}

/**
 * The keys of all accounts, as the surfaces that take them see them. Malformed, unknown and wrong keys cannot be told apart,
 * not by time either. All calls throw when what they must ask is away.
 */
export abstract class AccessKeys {
  /** As of at most 30 s ago, deactivated or not (docs/contract/platform.md#publishable-keys); null when there is no such key. */
  abstract publishable(key: string): Promise<PublishableKey | null>;

  /** Null when the text is no active key of that kind. Never cached, so a deactivation counts from the next request on. */
  abstract authenticate(kind: 'secret' | 'api', key: string): Promise<KeyHolder | null>;

  /** Whether a dashboard token was revoked, by its id. Never cached. */
  abstract isRevoked(tokenId: string): Promise<boolean>;
}
