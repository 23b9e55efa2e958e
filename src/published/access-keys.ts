import type { Environment } from '../kernel/environment.js';

/** The account and environment to which a key belongs. */
export interface KeyHolder {
  /** The key's name in events and logs. The name is not secret. */
  readonly keyId: string;
  readonly accountId: string;
  readonly environment: Environment;
  /** Only API keys have a client class. The class sets the default format of reports: HTML for a partner, JSON for a first party. */
  readonly clientClass?: 'partner' | 'first_party';
}

export interface PublishableKey extends KeyHolder {
  readonly active: boolean;
  readonly allowedOrigins: readonly string[];
  /** Token exchanges a minute: the limit of the key, or else of its account. With null, the limit of the installation applies. */
  readonly exchangesPerMinute: number | null;
}

/**
 * The keys of all accounts, for the API surfaces that accept them. A caller cannot tell malformed, unknown and wrong keys apart, not even by the time
 * of the answer. Each call throws while a store that it needs is unavailable.
 */
export abstract class AccessKeys {
  /**
   * Finds a key that is active or deactivated; null if the key does not exist. The answer is at most 30 s old
   * (docs/contract/platform.md#publishable-keys).
   */
  abstract publishable(key: string): Promise<PublishableKey | null>;

  /** Null if the text is not an active key of that kind. The answer is never cached, so a deactivation has its effect from the next request on. */
  abstract authenticate(kind: 'secret' | 'api', key: string): Promise<KeyHolder | null>;

  /** Whether the dashboard token with this id was revoked. The answer is never cached. */
  abstract isRevoked(tokenId: string): Promise<boolean>;
}
