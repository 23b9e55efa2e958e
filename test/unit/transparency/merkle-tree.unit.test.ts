// The tree of RFC 6962 has the reference values that the Certificate Transparency project publishes for eight leaves.
// Larger trees follow the definition of the RFC.
import { describe, expect, it } from '@jest/globals';
import {
  consistencyProof,
  EMPTY_ROOT,
  GrowingRoot,
  inclusionProof,
  isConsistent,
  leafHash,
  nodeHash,
  rootFromInclusion,
  rootOf,
  type SubtreeHashes,
} from '../../../src/transparency/merkle-tree.js';
import { grown, hashesIn, TILE_WIDTH, tilePath } from '../../../src/transparency/tiles.js';

const LEAVES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'].map(
  (hex) => leafHash(Buffer.from(hex, 'hex')),
);

const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

/** Hashes of subtrees from the list of leaves, by the definition of the RFC. */
function treeOf(leaves: readonly Buffer[]): SubtreeHashes {
  const subtree = (height: number, index: number): Buffer =>
    height === 0
      ? (leaves[index] as Buffer)
      : nodeHash(subtree(height - 1, 2 * index), subtree(height - 1, 2 * index + 1));
  return async (height, index) => subtree(height, index);
}

const hexOf = (hashes: readonly Buffer[]): string[] => hashes.map((hash) => hash.toString('hex'));

describe('the published values', () => {
  const tree = treeOf(LEAVES);

  it('are the roots of the trees with zero to eight leaves', async () => {
    const growing = new GrowingRoot();
    for (const [size, root] of ROOTS.entries()) {
      expect((await rootOf(size, tree)).toString('hex')).toBe(root);
      expect(growing.root().toString('hex')).toBe(root);
      growing.add(LEAVES[size] ?? EMPTY_ROOT);
    }
  });

  it.each([
    [0, 1, []],
    [
      0,
      8,
      [
        '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
      ],
    ],
    [
      5,
      8,
      [
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
        'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
        'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      ],
    ],
    [2, 3, ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125']],
    [
      1,
      5,
      [
        '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      ],
    ],
  ])('are the inclusion proof of leaf %i in %i', async (index, size, proof) => {
    expect(hexOf(await inclusionProof(index, size, tree))).toEqual(proof);
  });

  it.each([
    [1, 1, []],
    [
      1,
      8,
      [
        '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
      ],
    ],
    [
      6,
      8,
      [
        '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
        'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
        'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      ],
    ],
    [
      2,
      5,
      [
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      ],
    ],
  ])('are the consistency proof from %i to %i', async (first, second, proof) => {
    expect(hexOf(await consistencyProof(first, second, tree))).toEqual(proof);
  });
});

describe('every proof of every tree with up to 40 leaves', () => {
  const leaves = Array.from({ length: 40 }, (_, place) => leafHash(Buffer.of(place)));
  const tree = treeOf(leaves);

  it('proves its leaf and no other', async () => {
    for (let size = 1; size <= leaves.length; size++) {
      const root = await rootOf(size, tree);
      for (let index = 0; index < size; index++) {
        const proof = await inclusionProof(index, size, tree);
        const leaf = leaves[index] as Buffer;
        expect(rootFromInclusion(index, size, leaf, proof)).toEqual(root);
        expect(rootFromInclusion(index, size, EMPTY_ROOT, proof)).not.toEqual(root);
        expect(rootFromInclusion(index, size, leaf, [...proof, root])).toBeNull();
        expect(rootFromInclusion(index ^ 1, size, leaf, proof)).not.toEqual(size === 1 ? leaf : root);
      }
    }
  });

  it('proves its beginning and no other', async () => {
    const heads = await Promise.all(
      Array.from({ length: leaves.length + 1 }, async (_, size) => ({ size, root: await rootOf(size, tree) })),
    );
    for (const first of heads)
      for (const second of heads.slice(first.size)) {
        const proof = await consistencyProof(first.size, second.size, tree);
        expect(isConsistent(first, second, proof)).toBe(true);
        expect(isConsistent(first, second, [...proof, first.root])).toBe(false);
        const other = { ...first, root: leaves[0] === first.root ? EMPTY_ROOT : (leaves[0] as Buffer) };
        if (first.size !== 1) expect(isConsistent(other, second, proof)).toBe(false);
        if (first.size < second.size) expect(isConsistent(second, first, proof)).toBe(false);
      }
  });
});

describe('tiles', () => {
  it('have the paths of the standard', () => {
    expect(tilePath(0, 0)).toBe('tile/0/000');
    expect(tilePath(1, 1_234_067)).toBe('tile/1/x001/x234/067');
    expect(tilePath('entries', 273, 112)).toBe('tile/entries/273.p/112');
  });

  it('of 70,000 entries have the widths of the standard, and the same root whatever the steps of growth', async () => {
    const entries = Array.from({ length: 70_000 }, (_, place) => Buffer.alloc(64, `${place},`));
    const roots = [];
    for (const steps of [[70_000], [1, 254, 1, 256, 1_000, 65_000, 3_488], [65_536, 4_464]]) {
      const files = new Map<string, Buffer>();
      const read = async (path: string): Promise<Buffer | null> => files.get(path) ?? null;
      let size = 0;
      for (const step of steps) {
        const changed = await grown(read, size, entries.slice(size, size + step));
        size += step;
        for (const [path, content] of changed) files.set(path, content);
        // A published log may lose partial tiles when the full tiles are there.
        for (const path of files.keys())
          if (path.includes('.p/') && files.has(path.replace(/\.p\/.*/, ''))) files.delete(path);
      }
      const full = [...files.keys()].filter((path) => !path.includes('.p/'));
      expect(full.filter((path) => path.startsWith('tile/0/'))).toHaveLength(273);
      expect(full.filter((path) => path.startsWith('tile/1/'))).toEqual(['tile/1/000']);
      for (const path of ['tile/0/273.p/112', 'tile/entries/273.p/112', 'tile/1/001.p/17', 'tile/2/000.p/1'])
        expect(files.has(path)).toBe(true);
      roots.push(await rootOf(size, hashesIn(read, size)));
      // Each earlier size has its root too, because a full tile replaces the partial ones.
      const before = new GrowingRoot();
      for (const entry of entries.slice(0, TILE_WIDTH + 3)) before.add(leafHash(entry));
      expect(await rootOf(TILE_WIDTH + 3, hashesIn(read, TILE_WIDTH + 3))).toEqual(before.root());
    }
    const growing = new GrowingRoot();
    for (const entry of entries) growing.add(leafHash(entry));
    expect(roots).toEqual([growing.root(), growing.root(), growing.root()]);
  });
});
