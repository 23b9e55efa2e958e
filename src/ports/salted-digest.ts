// Digests of vault entries, by which a changed entry can be found. A digest is keyed with a salt that lies beside the entry under the same subject.
// After the person's erasure, a digest reveals nothing.
import { digestWith, newSaltedDigest, saltIdOf } from '../kernel/salted-digest.js';
import type { Vault } from './vault.js';
import { unlessErased } from './vault-entry.js';

/** The name of the salt's entry. The digest names the salt, so that two processes that keep one entry do not replace each other's salts. */
export function saltEntry(entry: string, digest: string): string {
  return `salt:${saltIdOf(digest)}:${entry}`;
}

/** Stores the entry and a new salt. Returns the digest, or `erased` if the person was erased. */
export async function keepWithDigest(vault: Vault, subject: string, entry: string, content: object): Promise<string> {
  const value = Buffer.from(JSON.stringify(content));
  const { salt, digest } = newSaltedDigest(value);
  // Both values are stored together, so that the vault syncs its disk only once.
  const kept = [vault.put(subject, entry, value), vault.put(subject, saltEntry(entry, digest), salt)];
  const all = await unlessErased(Promise.all(kept));
  return all === 'erased' ? all : digest;
}

/** The digest of other text or bytes with the salt of the entry's `digest`. Null without a digest, and when the person was erased. */
export async function digestLike(
  vault: Vault,
  { subject, entry, digest }: { readonly subject: string; readonly entry: string; readonly digest: string | undefined },
  shown: Uint8Array | string,
): Promise<string | null> {
  if (digest === undefined) return null;
  const salt = await unlessErased(vault.get(subject, saltEntry(entry, digest)));
  return salt === null || salt === 'erased' ? null : digestWith(salt, digest, shown);
}
