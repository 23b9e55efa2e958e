import type { Environment } from '../kernel/environment.js';

/** The account and environment that a key belongs to. */
export interface KeyHolder {
  /** Names the key in events and logs. It is not secret. */
  readonly keyId: string;
  readonly accountId: string;
  readonly environment: Environment;
  /** Only API keys have it. It decides the default form of reports: HTML for a partner, JSON for a first party. */
  readonly clientClass?: 'partner' | 'first_party';
}

export interface PublishableKey extends KeyHolder {
  readonly active: boolean;
  readonly allowedOrigins: readonly string[];
  /** Token exchanges a minute: the limit of the key, else of its account. Null: the limit of the installation. */
  readonly exchangesPerMinute: number | null;
}

/**
 * The keys of all accounts, for the API surfaces that take them. A caller cannot tell malformed, unknown and wrong keys apart,
 * not even by the time of the answer. Each call throws while a store that it asks is unavailable.
 */
export abstract class AccessKeys {
  /**
   * Finds the key whether it is active or not; null when the key does not exist. The answer is at most 30 s old
   * (docs/contract/platform.md#publishable-keys).
   */
  abstract publishable(key: string): Promise<PublishableKey | null>;

  /** Null when the text is not an active key of that kind. It is never cached, so a deactivation counts from the next request on. */
  abstract authenticate(kind: 'secret' | 'api', key: string): Promise<KeyHolder | null>;

  /** Whether the dashboard token with this id was revoked. Never cached. */
  abstract isRevoked(tokenId: string): Promise<boolean>;
}
