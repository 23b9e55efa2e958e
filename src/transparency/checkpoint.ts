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

/** A witness by the name in its key. */
export interface PolicyWitness {
  readonly key: string;
  readonly name: string;
  readonly url: string;
}

/** The log's keys, the witnesses, and the number of witnesses whose cosignatures a checkpoint needs. */
export function policyText(keys: readonly VerifierKey[], witnesses: readonly PolicyWitness[] = [], quorum = 0): string {
  const logs = keys.map((key) => `log ${key.text}\n`).join('');
  const named = witnesses.map(({ name, key, url }) => `witness ${name} ${key} ${url}\n`).join('');
  const group = quorum === 0 ? '' : `group witnesses ${quorum} ${witnesses.map(({ name }) => name).join(' ')}\n`;
  return `${logs}\n${named}${group}quorum ${quorum === 0 ? 'none' : 'witnesses'}\n`;
}
