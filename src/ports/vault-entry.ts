// Vault entries that contain JSON, and the answer of a use case when the person was erased.
import type { ActionContext } from '../kernel/context.js';
import { SubjectErased, type Vault } from './vault.js';

/** `null` when the entry was never stored. */
export async function readEntry<Content extends object>(
  vault: Vault,
  subject: string,
  entry: string,
): Promise<Content | null | 'erased'> {
  const value = await unlessErased(vault.get(subject, entry));
  if (value === null || value === 'erased') return value;
  return parsedEntry(value) as Content;
}

export function parsedEntry({ buffer, byteOffset, byteLength }: Uint8Array): unknown {
  return JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString('utf8'));
}

export async function keepEntry(
  vault: Vault,
  subject: string,
  entry: string,
  content: object,
): Promise<'kept' | 'erased'> {
  return (await unlessErased(vault.put(subject, entry, Buffer.from(JSON.stringify(content))))) ?? 'kept';
}

/**
 * Keeps the caller's address and user agent in clear text under the person, once for each pair. The hashes in the events name the entry. Keeps nothing
 * of an erased person.
 */
export async function keepCaller(
  vault: Vault,
  subject: string,
  { askedBy: { addressHash, agentHash = 'none' } = {}, caller }: Pick<ActionContext, 'askedBy' | 'caller'>,
): Promise<void> {
  if (caller === undefined || addressHash === undefined) return;
  const entry = `caller:${addressHash}.${agentHash}`;
  if ((await readEntry(vault, subject, entry)) === null) await keepEntry(vault, subject, entry, caller());
}

/** Whether the data key of the subject was destroyed. Decrypts no entry. */
export async function isErased(vault: Vault, subject: string): Promise<boolean> {
  return (await unlessErased(vault.get(subject, 'none'))) === 'erased';
}

/** The result of a vault operation, or `erased` when the data key of its subject was destroyed. */
export async function unlessErased<Value>(use: Promise<Value>): Promise<Value | 'erased'> {
  try {
    return await use;
  } catch (error) {
    if (error instanceof SubjectErased) return 'erased';
    throw error;
  }
}
