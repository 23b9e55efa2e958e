// Pages of lists of read models, for list routes and operator commands.
import { expect, it } from '@jest/globals';
import type { Projection } from '../../src/kernel/projection.js';
import { readPart, type ListPart } from '../../src/ports/list-part.js';
import type { ListQuery, Page } from '../../src/ports/read-models.js';

interface Doc {
  readonly at: string;
}

const view = (at: string) => ({ id: `id-${at}`, revision: 0, doc: { at } });
const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;

/** Lists of documents by their seconds. `gone`: documents that the lists still hold and the log no longer does. */
function listsOf(lists: Readonly<Record<string, readonly number[]>>, gone: readonly number[] = []) {
  return {
    async list(_: unknown, list: string, { after, limit, upTo }: ListQuery): Promise<Page<Doc>> {
      const held = (lists[list] ?? []).filter((second) => upTo === undefined || at(second) <= upTo);
      const left = held.filter((second) => !after || at(second) < after.sort).sort((one, other) => other - one);
      const shown = left.slice(0, limit);
      const last = shown.at(-1);
      return {
        items: shown.filter((second) => !gone.includes(second)).map((second) => view(at(second))),
        total: held.length,
        next: left.length > limit && last !== undefined ? { sort: at(last), id: `id-${at(last)}` } : null,
      };
    },
  } as Parameters<typeof readPart<Doc>>[0];
}

const BEGINNING: ListPart = { after: null, from: null, to: null, limit: 2 };
const PROJECTION = {} as Projection<Doc, unknown>;

/** The seconds of each page, from the first to the last, and the total. */
async function pagesOf(readModels: ReturnType<typeof listsOf>, lists: string[], part: Partial<ListPart> = {}) {
  const pages: number[][] = [];
  let after: ListPart['after'] = part.after ?? null;
  for (;;) {
    const listed = { projection: PROJECTION, lists, sortOf: (doc: Doc) => doc.at };
    const page = await readPart(readModels, listed, { ...BEGINNING, ...part, after });
    pages.push(page.items.map(({ doc }) => Number(doc.at.slice(18, 19))));
    if (page.next === null) return { pages, total: page.total };
    after = page.next;
  }
}

it('the pages of several lists together go through all documents, the newest first', async () => {
  const lists = listsOf({ a: [1, 4, 5], b: [2, 3, 9] });
  expect(await pagesOf(lists, ['a', 'b'])).toEqual({
    pages: [
      [9, 5],
      [4, 3],
      [2, 1],
    ],
    total: 6,
  });
});

it('a full last page names no next page', async () => {
  expect(await pagesOf(listsOf({ a: [1], b: [2] }), ['a', 'b'])).toEqual({ pages: [[2, 1]], total: 2 });
});

it('a document that has left its list takes no place on the page', async () => {
  const lists = listsOf({ a: [9, 8, 1], b: [7, 6] }, [8]);
  expect(await pagesOf(lists, ['a', 'b'])).toEqual({ pages: [[9], [7, 6], [1]], total: 5 });
});

it('a walk between two times includes the first time and not the second, and the total counts the same documents', async () => {
  const lists = listsOf({ a: [1, 4, 5], b: [2, 3, 9] });
  expect(await pagesOf(lists, ['a', 'b'], { from: at(2), to: at(5) })).toEqual({ pages: [[4, 3], [2]], total: 3 });
  expect(await pagesOf(lists, ['a', 'b'], { from: at(6) })).toEqual({ pages: [[9]], total: 1 });
});

it('a page whose cursor is later than the second time begins with the newest document before that time', async () => {
  const after = { sort: at(9), id: 'id' };
  expect(await pagesOf(listsOf({ a: [1, 4, 5] }), ['a'], { after, to: at(5) })).toEqual({ pages: [[4, 1]], total: 2 });
});
