// The texts of a transparency log: checkpoints (C2SP tlog-checkpoint), proofs (C2SP tlog-proof@v1) and the policy (C2SP tlog-policy).
import type { TreeHead } from './merkle-tree.js';
import type { VerifierKey } from './signed-note.js';

export interface Checkpoint extends TreeHead {
  readonly origin: string;
}

const PROOF = 'c2sp.org/tlog-proof@v1';

export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`;
}

/** Reads a checkpoint or its text. Extension lines and signatures are ignored. Null for any other text. */
export function readCheckpoint(text: string): Checkpoint | null {
  const [origin = '', size = '', encoded = ''] = text.split('\n');
  const root = Buffer.from(encoded, 'base64');
  const isCheckpoint = origin !== '' && /^(0|[1-9]\d{0,14})$/.test(size) && root.length === 32;
  return isCheckpoint && root.toString('base64') === encoded ? { origin, size: Number(size), root } : null;
}

/** `checkpoint`: the signed note. */
export function proofText(index: number, proof: readonly Buffer[], checkpoint: string): string {
  const hashes = proof.map((hash) => `${hash.toString('base64')}\n`).join('');
  return `${PROOF}\nindex ${index}\n${hashes}\n${checkpoint}`;
}

/** The log's keys without a witness. */
export function policyText(keys: readonly VerifierKey[]): string {
  return `${keys.map((key) => `log ${key.text}\n`).join('')}\nquorum none\n`;
}
