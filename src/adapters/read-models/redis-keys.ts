// Names of everything the read models keep in Redis, and the text form of what lies under them.
import { hash } from 'node:crypto';
import type { IndexEntry } from '../../kernel/projection.js';
import { DUE } from '../../kernel/projection.js';
import type { AnyProjection, DocumentWrite } from '../../ports/projection-store.js';

/** Length of a time up to its hour: an entry that moved with every event would cost more than it is worth. */
const HOUR = '2026-01-31T12'.length;

/** The keys of one generation, in the order the scripts take them. */
export type GenerationKeys = readonly [state: string, docs: string, entries: string];

/** Keys of one projection version. All share a hash tag, so that one script changes them together. */
export class ProjectionKeys {
  readonly lease: string;
  readonly request: string;
  readonly report: string;
  readonly live: GenerationKeys;
  readonly building: GenerationKeys;

  constructor({ name, version }: Pick<AnyProjection, 'name' | 'version'>) {
    const tag = `{${name}:v${version}}`;
    const generation = (which: string): GenerationKeys => [
      `${tag}:${which}:state`,
      `${tag}:${which}:docs`,
      `${tag}:${which}:entries`,
    ];
    this.lease = `${tag}:lease`;
    this.request = `${tag}:rebuild`;
    this.report = `${tag}:report`;
    this.live = generation('live');
    this.building = generation('building');
  }
}

const kept = new WeakMap<AnyProjection, ProjectionKeys>();

export function keysOf(projection: AnyProjection): ProjectionKeys {
  let keys = kept.get(projection);
  if (!keys) {
    keys = new ProjectionKeys(projection);
    kept.set(projection, keys);
  }
  return keys;
}

/** Lists the documents that are to leave, by the hour of their last event. */
const RECENT = 'recent';

/** Lists those whose entries are to leave too. */
const LISTED = 'listed';

const DAY_MS = 24 * 3_600_000;

/** ISO 8601 UTC; a document whose last event was in an hour that began before need not be kept. */
export function keptSince(keptForMs: number): string {
  return new Date(Date.now() - keptForMs).toISOString();
}

/** ISO 8601 UTC; the same for the entries of a document, so much earlier. '' where they stay for ever. */
export function listedSince({ listedForDays }: AnyProjection, earlierMs = 0): string {
  return listedForDays === undefined ? '' : keptSince(listedForDays * DAY_MS - earlierMs);
}

/** Whether the document whose last event was then is stored, and not only its entries. */
export function isKept({ lasting }: AnyProjection, occurredAt: string, since: string): boolean {
  return lasting === true || occurredAt.slice(0, HOUR) >= since;
}

/**
 * A document as the scripts take it: id, revision, text, entries of which the latest is kept. The text is a line of the revision and the
 * other index entries, separated by tabs, and then the document as JSON, so that the scripts compare revisions and replace entries
 * without reading JSON. The first entry of one that is to leave is that in `RECENT`, the next, of one whose entries are to leave, that in
 * `LISTED`. When it has left, its line without the entry in `RECENT` remains if it is still listed, else nothing: so one whose last event is
 * older than `since` comes without its JSON.
 */
export function documentFields(projection: AnyProjection, write: DocumentWrite, since = ''): string[] {
  const { id, revision, state, occurredAt } = write;
  const entries = projection.entries?.(state) ?? [];
  const dueAt = projection.dueAt?.(state) ?? null;
  const hour = occurredAt.slice(0, HOUR);
  const replaced: IndexEntry[] = projection.lasting ? [] : [{ list: RECENT, sort: hour }];
  if (projection.listedForDays !== undefined && dueAt === null) replaced.push({ list: LISTED, sort: hour });
  replaced.push(...entries.filter(({ latestOnly }) => !latestOnly));
  if (dueAt !== null) replaced.push({ list: DUE, sort: new Date(dueAt).toISOString() });
  const line = [revision, ...replaced.map(entryText)].join('\t');
  const doc = isKept(projection, occurredAt, since) ? JSON.stringify(projection.view(state)) : '';
  const latest = entries.filter(({ latestOnly }) => latestOnly).map(entryText);
  return [id, String(revision), `${line}\n${doc}`, latest.join('\t')];
}

/** What is stored of a document once it and its entries have left, if it is old enough for that; null for nothing. */
export function textAfter(text: string | null, since: string, entriesSince: string): string | null {
  const [, revision = '', hour = '', entries = ''] = /^(\d+)\trecent (\S+)([^\n]*)\n/.exec(text ?? '') ?? [];
  const rest = hour === '' || hour >= since ? text : entries === '' ? null : `${revision}${entries}\n`;
  const [, listed = entriesSince] = /^\d+\tlisted (\S+)/.exec(rest ?? '') ?? [];
  return listed < entriesSince ? null : rest;
}

/** Null for what cannot be read; documents are disposable, so that is as good as missing. */
export function parseDocument(text: string): { readonly revision: number; readonly doc: object } | null {
  const end = text.indexOf('\n');
  const revision = Number.parseInt(text, 10);
  if (end < 1 || !Number.isInteger(revision)) return null;
  try {
    return { revision, doc: JSON.parse(text.slice(end + 1)) as object };
  } catch {
    return null;
  }
}

/** Most of the names hold an id, and there are several in each document: a hash takes a fifth of the memory. */
const SHORT = 16;

/** How a list is called in Redis. */
export function listName(list: string): string {
  return list.length <= SHORT ? list : hash('sha256', list, 'base64url').slice(0, SHORT);
}

/** Member of the one sorted set, without the id that ends it; equal scores sort by bytes, so a list lies together and in order. */
function entryText({ list, sort = '' }: IndexEntry): string {
  if (/\s/.test(list) || /\s/.test(sort)) throw new Error(`An index entry holds a space: ${list} ${sort}`);
  return `${listName(list)} ${sort}`;
}
