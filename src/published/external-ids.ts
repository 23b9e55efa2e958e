// Integrators' own ids of sessions (`external_id` of a session grant), as lists find them. An id may be personal, so the log has only its keyed hash.
import type { Environment } from '../kernel/environment.js';
import { keyedId } from '../kernel/ids.js';

/** The name of the key of the installation (see `Vault.installationKey`). */
export const EXTERNAL_ID_KEY = 'external-id';

/** Differs between accounts and environments, so that the hashes of two accounts cannot be compared. */
export function externalIdHash(
  key: Uint8Array,
  { accountId, environment }: { readonly accountId: string; readonly environment: Environment },
  externalId: string,
): string {
  return keyedId(key, accountId, environment, externalId);
}
