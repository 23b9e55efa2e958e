// The Merkle tree of RFC 6962 with SHA-256: roots, inclusion proofs and consistency proofs. Pure functions over the hashes of complete subtrees.
import { hash } from 'node:crypto';

/** The hash of the complete subtree with 2 ** height leaves. `index` counts the subtrees of this height from the left. */
export type SubtreeHashes = (height: number, index: number) => Promise<Buffer>;

export const EMPTY_ROOT = hash('sha256', '', 'buffer');
const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

export function leafHash(entry: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([LEAF, entry]), 'buffer');
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([NODE, left, right]), 'buffer');
}

/** The hash over adjacent subtrees of one height. The number of hashes is a power of two. */
export function joined(hashes: readonly Buffer[]): Buffer {
  let level = hashes;
  while (level.length > 1)
    level = Array.from({ length: level.length / 2 }, (_, pair) =>
      nodeHash(level[2 * pair] as Buffer, level[2 * pair + 1] as Buffer),
    );
  return level[0] as Buffer;
}

export async function rootOf(size: number, hashes: SubtreeHashes): Promise<Buffer> {
  return size === 0 ? EMPTY_ROOT : rangeHash(0, size, hashes);
}

/** From the leaf's sibling up to the child of the root. */
export async function inclusionProof(index: number, size: number, hashes: SubtreeHashes): Promise<Buffer[]> {
  const path: Buffer[] = [];
  for (let [start, end] = [0, size]; end - start > 1;) {
    const middle = start + splitOf(end - start);
    if (index < middle) {
      path.unshift(await rangeHash(middle, end, hashes));
      end = middle;
    } else {
      path.unshift(await rangeHash(start, middle, hashes));
      start = middle;
    }
  }
  return path;
}

/** Proves that the tree of size `first` is the beginning of the tree of size `second`. Empty if one of the trees is empty or both are the same. */
export async function consistencyProof(first: number, second: number, hashes: SubtreeHashes): Promise<Buffer[]> {
  const proof: Buffer[] = [];
  if (first === 0) return proof;
  let [start, end] = [0, second];
  while (first !== end) {
    const middle = start + splitOf(end - start);
    if (first <= middle) {
      proof.unshift(await rangeHash(middle, end, hashes));
      end = middle;
    } else {
      proof.unshift(await rangeHash(start, middle, hashes));
      start = middle;
    }
  }
  if (start > 0) proof.unshift(await rangeHash(start, end, hashes));
  return proof;
}

/** The root that the proof gives for the leaf; null if the proof has another length. */
export function rootFromInclusion(
  index: number,
  size: number,
  leaf: Buffer,
  proof: readonly Uint8Array[],
): Buffer | null {
  if (index >= size) return null;
  if (size === 1) return proof.length === 0 ? leaf : null;
  const sibling = proof.at(-1);
  if (sibling === undefined) return null;
  const split = splitOf(size);
  const isLeft = index < split;
  const own = isLeft
    ? rootFromInclusion(index, split, leaf, proof.slice(0, -1))
    : rootFromInclusion(index - split, size - split, leaf, proof.slice(0, -1));
  return own && (isLeft ? nodeHash(own, sibling) : nodeHash(sibling, own));
}

export interface TreeHead {
  readonly size: number;
  readonly root: Buffer;
}

export function isConsistent(first: TreeHead, second: TreeHead, proof: readonly Buffer[]): boolean {
  if (first.size > second.size) return false;
  if (first.size === 0) return proof.length === 0 && first.root.equals(EMPTY_ROOT);
  const roots = rootsFrom(first.size, second.size, proof, first.root);
  return roots !== null && roots[0].equals(first.root) && roots[1].equals(second.root);
}

/** `whole`: the root of the first tree, as long as that tree begins at the left edge of the part; null otherwise. */
function rootsFrom(
  first: number,
  second: number,
  proof: readonly Buffer[],
  whole: Buffer | null,
): readonly [Buffer, Buffer] | null {
  const last = proof.at(-1);
  if (first === second) {
    const own = whole ?? last;
    return own !== undefined && proof.length === (whole === null ? 1 : 0) ? [own, own] : null;
  }
  if (last === undefined) return null;
  const split = splitOf(second);
  if (first <= split) {
    const roots = rootsFrom(first, split, proof.slice(0, -1), whole);
    return roots && [roots[0], nodeHash(roots[1], last)];
  }
  const roots = rootsFrom(first - split, second - split, proof.slice(0, -1), null);
  return roots && [nodeHash(last, roots[0]), nodeHash(last, roots[1])];
}

/** The root of a tree that only grows, in memory for its right edge alone. */
export class GrowingRoot {
  size = 0;
  /** The complete subtrees from the left, the largest first, with their heights. */
  private readonly edge: { readonly height: number; readonly hash: Buffer }[] = [];

  add(leaf: Buffer): void {
    let added = { height: 0, hash: leaf };
    for (let left = this.edge.at(-1); left?.height === added.height; left = this.edge.at(-1)) {
      this.edge.pop();
      added = { height: added.height + 1, hash: nodeHash(left.hash, added.hash) };
    }
    this.edge.push(added);
    this.size += 1;
  }

  root(): Buffer {
    const [last, ...others] = this.edge.map(({ hash: subtree }) => subtree).reverse();
    return last === undefined ? EMPTY_ROOT : others.reduce((right, left) => nodeHash(left, right), last);
  }
}

/** `start` is a multiple of the largest power of two in the range. */
async function rangeHash(start: number, end: number, hashes: SubtreeHashes): Promise<Buffer> {
  const size = end - start;
  const split = splitOf(size);
  if (size === 1 || size === 2 * split) return hashes(Math.log2(size), start / size);
  return nodeHash(await hashes(Math.log2(split), start / split), await rangeHash(start + split, end, hashes));
}

/** The largest power of two below the size; 1 for a single leaf. */
function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}
