// The files of the tree in the form of C2SP tlog-tiles: tiles of 256 hashes, and bundles of 256 entries.
import { joined, leafHash, type SubtreeHashes } from './merkle-tree.js';

/** The content of a file; null if the file does not exist. The path is relative to the folder of the log. */
export type ReadFile = (path: string) => Promise<Buffer | null>;

export const TILE_WIDTH = 256;
const HASH_BYTES = 32;
export const ENTRY_BYTES = 64;
/** In a bundle, two bytes with the length come before each entry. */
const LENGTH = Buffer.of(0, ENTRY_BYTES);

/** Level 0 has the hashes of the leaves. `entries` names the bundles. */
export type Level = number | 'entries';

/** A tile of the tree is missing, or does not have the size that the tree needs. */
export class TileUnusable extends Error {
  override readonly name = 'TileUnusable';

  constructor(readonly path: string) {
    super(`${path} is missing or does not have its size`);
  }
}

export function tilePath(level: Level, index: number, width = TILE_WIDTH): string {
  const digits = String(index);
  const parts = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.{3}/g) ?? [];
  const name = parts.map((part, place) => (place < parts.length - 1 ? `x${part}` : part)).join('/');
  return `tile/${level}/${name}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

/** The number of hashes or entries of the tile in a tree of this size. */
export function widthOf(level: Level, index: number, size: number): number {
  const count = level === 'entries' ? size : Math.floor(size / TILE_WIDTH ** level);
  return Math.max(0, Math.min(TILE_WIDTH, count - index * TILE_WIDTH));
}

/** The tile of a tree of this size. When the tree has grown, the full tile replaces the partial one. Throws TileUnusable. */
export async function readTile(read: ReadFile, level: Level, index: number, size: number): Promise<Buffer> {
  const width = widthOf(level, index, size);
  const path = tilePath(level, index, width);
  const bytes = width * (level === 'entries' ? LENGTH.length + ENTRY_BYTES : HASH_BYTES);
  const own = await read(path);
  if (own !== null) return own.length === bytes ? own : refuse(path);
  const full = width === TILE_WIDTH ? null : await read(tilePath(level, index));
  return full !== null && full.length >= bytes ? full.subarray(0, bytes) : refuse(path);
}

function refuse(path: string): never {
  throw new TileUnusable(path);
}

/** The subtrees of a tree of this size. Reads each tile once. */
export function hashesIn(read: ReadFile, size: number): SubtreeHashes {
  const tiles = new Map<string, Promise<Buffer>>();
  return async (height, index) => {
    const level = Math.floor(height / 8);
    const count = 2 ** (height % 8);
    const first = index * count;
    const tile = Math.floor(first / TILE_WIDTH);
    const key = `${level}/${tile}`;
    const reading = tiles.get(key) ?? readTile(read, level, tile, size);
    tiles.set(key, reading);
    return joined(hashesOf(await reading).slice(first % TILE_WIDTH, (first % TILE_WIDTH) + count));
  };
}

/** The files that change when a tree of this size gets further entries. Partial tiles of the earlier size stay. */
export async function grown(
  read: ReadFile,
  size: number,
  entries: readonly Uint8Array[],
): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const add = async (level: Level, from: number, added: readonly Uint8Array[]): Promise<Buffer[]> => {
    const full: Buffer[] = [];
    let index = Math.floor(from / TILE_WIDTH);
    const before = from % TILE_WIDTH === 0 ? Buffer.alloc(0) : await readTile(read, level, index, size);
    let [tile, next] = [before, 0];
    while (next < added.length) {
      const room = TILE_WIDTH - (index * TILE_WIDTH < from ? from % TILE_WIDTH : 0);
      const chunk = added.slice(next, next + room);
      tile = Buffer.concat([tile, ...chunk]);
      const width = TILE_WIDTH - room + chunk.length;
      files.set(tilePath(level, index, width), tile);
      if (width === TILE_WIDTH) full.push(tile);
      next += chunk.length;
      index += 1;
      tile = Buffer.alloc(0);
    }
    return full;
  };
  await add('entries', size, entries.map(bundled));
  let added: readonly Buffer[] = entries.map(leafHash);
  for (let level = 0; added.length > 0; level++) {
    const full = await add(level, Math.floor(size / TILE_WIDTH ** level), added);
    added = full.map((tile) => joined(hashesOf(tile)));
  }
  return files;
}

function bundled(entry: Uint8Array): Buffer {
  return Buffer.concat([LENGTH, entry]);
}

export function bundleOf(entries: readonly Uint8Array[]): Buffer {
  return Buffer.concat(entries.map(bundled));
}

export function entriesOf(bundle: Buffer): Buffer[] {
  const step = LENGTH.length + ENTRY_BYTES;
  return Array.from({ length: bundle.length / step }, (_, place) =>
    bundle.subarray(place * step + LENGTH.length, (place + 1) * step),
  );
}

export function hashesOf(tile: Buffer): Buffer[] {
  return Array.from({ length: tile.length / HASH_BYTES }, (_, place) =>
    tile.subarray(place * HASH_BYTES, (place + 1) * HASH_BYTES),
  );
}
