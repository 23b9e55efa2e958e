// The Redis names of all data of the read models, and the text form of the data.
import { hash } from 'node:crypto';
import { DUE, type IndexEntry } from '../../kernel/projection.js';
import type { AnyProjection, DocumentWrite } from '../../ports/projection-store.js';

/**
 * The keys of one generation. `state` is a hash with the generation's number and progress. `lines` is one of the hashes with the lines of listed
 * documents. `entries` is a sorted set of all entries.
 */
export interface GenerationKeys {
  readonly state: string;
  readonly lines: string;
  readonly entries: string;
}

/** The keys of one projection version. All keys share a hash tag, because one step changes them together. */
export class ProjectionKeys {
  readonly lease: string;
  readonly request: string;
  readonly report: string;
  readonly live: GenerationKeys;
  readonly building: GenerationKeys;
  private readonly tag: string;

  constructor({ name, version }: Pick<AnyProjection, 'name' | 'version'>) {
    const tag = `{${name}:v${version}}`;
    const generation = (which: string): GenerationKeys => ({
      state: `${tag}:${which}:state`,
      lines: `${tag}:${which}:lines`,
      entries: `${tag}:${which}:entries`,
    });
    this.tag = tag;
    this.lease = `${tag}:lease`;
    this.request = `${tag}:rebuild`;
    this.report = `${tag}:report`;
    this.live = generation('live');
    this.building = generation('building');
  }

  /** The key of a document that is kept for outages of the log. */
  document(id: string): string {
    return `${this.tag}:document:${id}`;
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

/** The list of documents whose entries will leave their lists, by the hour of the documents' last event. */
export const LISTED = 'listed';
/** The number of characters of a time up to its hour. Moving an entry at every event would cost too much. */
const HOUR = '2026-01-31T12'.length;
const DAY_MS = 24 * 3_600_000;

/** ISO 8601 UTC. Documents whose last event was in an earlier hour leave their lists. '' when documents never leave their lists. */
export function listedSince({ listedForDays }: AnyProjection, now: number): string {
  return listedForDays === undefined ? '' : new Date(now - listedForDays * DAY_MS).toISOString();
}

/** The entries of a document as texts: members of the sorted set, without the id at the end of each. */
export interface EntryTexts {
  readonly replaced: readonly string[];
  /** The entries in lists that keep only the latest entry. */
  readonly latest: readonly string[];
}

export function entriesOf(projection: AnyProjection, { state, occurredAt }: DocumentWrite, now: number): EntryTexts {
  const entries = projection.entries?.(state) ?? [];
  const dueAt = projection.dueAt?.(state) ?? null;
  const replaced = entries.filter(({ latestOnly }) => !latestOnly);
  const hour = occurredAt.slice(0, HOUR);
  if (dueAt !== null) replaced.push({ list: DUE, sort: new Date(dueAt).toISOString() });
  else if (projection.listedForDays !== undefined) replaced.push({ list: LISTED, sort: hour });
  const isOver = dueAt === null && hour < listedSince(projection, now);
  return {
    replaced: isOver ? [] : replaced.map(entryText),
    latest: entries.filter(({ latestOnly }) => latestOnly).map(entryText),
  };
}

/** The line of a document: its revision and its entries, separated by tabs. The line of the next revision replaces it. */
export function lineText(revision: number, entries: readonly string[]): string {
  return [revision, ...entries].join('\t');
}

export function readLine(line: string | null): { readonly revision: number; readonly entries: readonly string[] } {
  const [revision = '', ...entries] = line?.split('\t') ?? [];
  return { revision: revision === '' ? -1 : Number(revision), entries };
}

/** Most names contain an id, and each document has several names. A hash needs a fifth of the memory. */
const SHORT = 16;

/** The name of a list in Redis. */
export function listName(list: string): string {
  return list.length <= SHORT ? list : hash('sha256', list, 'base64url').slice(0, SHORT);
}

/** Equal scores sort by bytes, so the members of a list are together and in order. */
function entryText({ list, sort = '' }: IndexEntry): string {
  if (/\s/.test(list) || /\s/.test(sort)) throw new Error(`An index entry holds a space: ${list} ${sort}`);
  return `${listName(list)} ${sort}`;
}

/** The list entry and the document that a member names. */
export function cursorIn(member: string): { readonly sort: string; readonly id: string } {
  const [, sort = '', id = ''] = member.split(' ');
  return { sort, id };
}

/** The limits of a list among all members, up to a sort value. '!' sorts after the space that ends every value. */
export function boundsOf(list: string, upTo?: string): [first: string, last: string] {
  const name = listName(list);
  return [`[${name} `, upTo === undefined ? `(${name}!` : `(${name} ${upTo}!`];
}
