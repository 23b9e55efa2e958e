import { describe, expect, it } from '@jest/globals';
import { Space } from '../../../src/adapters/lmdb/space.js';

const PAGE = 4_096;

/** A file with the given number of pages, as LMDB reports it. */
function fileOf(pages: number): { pages: number; looks: number; readonly space: (maxBytes: number) => Space } {
  const file = {
    pages,
    looks: 0,
    space: (maxBytes: number): Space =>
      new Space(
        {
          getStats: () => {
            file.looks += 1;
            return { lastPageNumber: file.pages - 1, root: { pageSize: PAGE } };
          },
          resetReadTxn: () => undefined,
        },
        import.meta.filename,
        maxBytes,
      ),
  };
  return file;
}

describe('the space of an LMDB file', () => {
  it('is not measured at every write while much space is left', () => {
    const file = fileOf(100);
    const space = file.space(2 ** 30);
    for (let write = 0; write < 10_000; write++) expect(space.lacking(100)).toBeNull();
    expect(file.looks).toBeLessThan(1_000);
  });

  it('is measured at every write when little space is left, so that a write without space is refused', () => {
    const maxBytes = 1_000 * PAGE;
    const file = fileOf(900);
    const space = file.space(maxBytes);
    expect(space.lacking(100)).toBeNull();
    file.pages = 960;
    expect(space.lacking(100)).toEqual({ usedBytes: 960 * PAGE, totalBytes: maxBytes });
  });

  it('is measured whenever a caller asks for it', () => {
    const file = fileOf(100);
    const space = file.space(2 ** 30);
    space.lacking(0);
    file.pages = 200;
    expect(space.usage().usedBytes).toBe(200 * PAGE);
  });
});
