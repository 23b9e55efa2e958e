// Pages of lists of read models, for list routes and operator commands.
import type { Projection } from '../kernel/projection.js';
import type { Cursor, Page, ReadModels } from './read-models.js';

/** The part of a list that a caller asks for, the newest first. Times are ISO 8601 UTC, and bound the sort values. */
export interface ListPart {
  /** `next` of the page before. Null stands for the beginning. */
  readonly after: Cursor | null;
  /** The earliest time. Null if the time has no bound. */
  readonly from: string | null;
  /** Entries are listed if they are earlier than this time. Null if the time has no bound. */
  readonly to: string | null;
  readonly limit: number;
}

/** The progress of the lists of a projection. The first page of a list waits, so that it has what its reader has just stored. */
export abstract class ListProgress {
  /** Resolves when the lists have everything that was stored before the call, or after a second. */
  abstract caughtUp(projection: Projection<object, unknown>): Promise<unknown>;
}

/** Lists of a projection, none of which shares a document with another. */
export interface ListedTogether<Doc extends object> {
  readonly projection: Projection<Doc, unknown>;
  readonly lists: readonly string[];
  /** The value of a document that orders the lists. */
  readonly sortOf: (doc: Doc) => string;
}

/** A page of several lists together. The total counts the entries between the two times. */
export async function readPart<Doc extends object>(
  readModels: Pick<ReadModels, 'list'>,
  { projection, lists, sortOf }: ListedTogether<Doc>,
  part: ListPart,
): Promise<Page<Doc>> {
  const { after, from, to, limit } = part;
  const upTo = to === null ? {} : { upTo: justBefore(to) };
  // A cursor later than `to` would begin the page with entries that are later than `to`.
  const reached = after !== null && to !== null && after.sort >= to ? null : after;
  const pages = await Promise.all(
    lists.map((list) => readModels.list(projection, list, { after: reached, limit, ...upTo })),
  );
  const earlier = await Promise.all(
    from === null ? [] : lists.map((list) => readModels.list(projection, list, { limit: 0, upTo: justBefore(from) })),
  );
  const total = totalOf(pages) - totalOf(earlier);
  return { ...together(pages, part, sortOf), total: Math.max(0, total) };
}

/** One page of the pages of several lists. Places below the end of a list's page are left for the next page. */
export function together<Doc extends object>(
  pages: readonly Pick<Page<Doc>, 'items' | 'next'>[],
  { from, limit }: Pick<ListPart, 'from' | 'limit'>,
  sortOf: ListedTogether<Doc>['sortOf'],
): Pick<Page<Doc>, 'items' | 'next'> {
  const placed = pages
    .flatMap(({ items }) => items.map((view) => ({ view, place: { sort: sortOf(view.doc), id: view.id } })))
    .sort((one, other) => compared(other.place, one.place));
  const [end = null] = pages.flatMap(({ next }) => next ?? []).sort((one, other) => compared(other, one));
  const known = placed.filter(({ place }) => end === null || compared(place, end) >= 0);
  const shown = known.slice(0, limit);
  const next = known.length > limit ? (shown.at(-1)?.place ?? null) : end;
  const isOld = ({ sort }: Cursor): boolean => from !== null && sort < from;
  return {
    items: shown.filter(({ place }) => !isOld(place)).map(({ view }) => view),
    next: next === null || isOld(next) ? null : next,
  };
}

function totalOf(pages: readonly Pick<Page<object>, 'total'>[]): number {
  return pages.reduce((sum, { total }) => sum + total, 0);
}

function justBefore(time: string): string {
  return new Date(Date.parse(time) - 1).toISOString();
}

function compared(one: Cursor, other: Cursor): number {
  const [a, b] = one.sort === other.sort ? [one.id, other.id] : [one.sort, other.sort];
  return a < b ? -1 : a > b ? 1 : 0;
}
