// The case file: the events of a screening with their proofs, and the programs that check them (docs/operations/sealed-log.md).
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { zipSync } from 'fflate';
import type { RecordedEvent } from '../kernel/domain-event.js';
import type { Actor } from '../kernel/actor.js';
import { NO_CASE, type TagOf } from '../ports/case-tags.js';
import type { EventStore } from '../ports/event-store.js';
import { proofText } from './checkpoint.js';
import { canonicalEvent } from './event-entry.js';
import { timelineOf } from './case-timeline.mjs';
import type { Signed } from './log-folder.js';
import { inclusionProof } from './merkle-tree.js';
import { entriesOf, hashesIn, type ReadFile, readTile, TILE_WIDTH } from './tiles.js';

/** An event at its place in the tree. */
export interface SealedEvent {
  readonly index: number;
  readonly event: RecordedEvent;
  /** Whether the entry carries the tag of the case. */
  readonly ofCase: boolean;
}

/** The events of a case under a checkpoint. */
export interface SealedCase {
  readonly checkpoint: Signed;
  readonly tag: Buffer;
  /** In the order of the log: all events with the tag, and the given events of shared streams. */
  readonly events: readonly SealedEvent[];
}

export interface CaseLog {
  readonly store: EventStore;
  readonly tagOf: TagOf;
  readonly read: ReadFile;
}

const PAGE = 500;

/**
 * Finds the events in the tree of the checkpoint. Reads all entries, so that no event with the tag of the case is left out. Null if an event of
 * `about` is not under the checkpoint.
 */
export async function sealedCase(
  { store, tagOf, read }: CaseLog,
  about: readonly RecordedEvent[],
  checkpoint: Signed,
): Promise<SealedCase | null> {
  const tag = await tagAmong(about, tagOf);
  if (tag === null) return null;
  const wanted = new Map(about.map((event) => [digestOf(event), event]));
  const events: SealedEvent[] = [];
  const others = new Set<number>();
  for (let bundle = 0; bundle * TILE_WIDTH < checkpoint.size; bundle++)
    for (const [place, entry] of entriesOf(await readTile(read, 'entries', bundle, checkpoint.size)).entries()) {
      const index = bundle * TILE_WIDTH + place;
      const ofCase = entry.subarray(0, tag.length).equals(tag);
      const event = wanted.get(entry.toString('base64', tag.length));
      if (event !== undefined) events.push({ index, event, ofCase });
      else if (ofCase) others.add(index);
    }
  if (events.length < wanted.size) return null;
  const whole = [...events, ...(await eventsAt(store, others))].sort((one, other) => one.index - other.index);
  return { checkpoint, tag, events: whole };
}

/** The events of shared streams have no tag. Null before the person of the case has a salt. */
async function tagAmong(events: readonly RecordedEvent[], tagOf: TagOf): Promise<Buffer | null> {
  for (const event of events) {
    const tag = await tagOf(event);
    if (!tag.equals(NO_CASE)) return tag;
  }
  return null;
}

/** Events that no list of the case names, such as those of its income sessions. The log is read up to the last of them. */
async function eventsAt(store: EventStore, places: ReadonlySet<number>): Promise<SealedEvent[]> {
  const found: SealedEvent[] = [];
  for (let [after, index]: [string | null, number] = [null, 0]; found.length < places.size;) {
    const page: RecordedEvent[] = await store.readAll(after, PAGE);
    for (const event of page) {
      if (places.has(index)) found.push({ index, event, ofCase: true });
      index += 1;
    }
    if (page.length === 0) throw new Error('The log is shorter than its checkpoint');
    after = page.at(-1)?.position ?? after;
  }
  return found;
}

function digestOf(event: RecordedEvent): string {
  return hash('sha256', canonicalEvent(event), 'base64');
}

/** The content of manifest.json. */
export interface Manifest {
  readonly format: 'case-file@v1';
  /** The id of the screening. */
  readonly screening: string;
  /** Base64. */
  readonly caseTag: string;
  /** The indexes of all events in the file. */
  readonly events: readonly number[];
  /** The number of these events that carry the tag. */
  readonly eventsOfCase: number;
  readonly origin: string;
  readonly checkpointSize: number;
  readonly purpose: string;
  readonly actor: Actor;
  /** ISO 8601 UTC, like the times of the first and the last event. */
  readonly exportedAt: string;
  readonly firstEventAt: string;
  readonly lastEventAt: string;
  readonly documents: readonly string[];
}

export interface CaseFileParts {
  readonly sealed: SealedCase;
  readonly policy: string;
  readonly about: Pick<Manifest, 'screening' | 'purpose' | 'actor' | 'exportedAt'>;
  /** Prints a page; null if this machine cannot print. */
  readonly print: (html: string) => Promise<Uint8Array | null>;
  /** Sealed documents, by their name in `documents/`. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
}

/** The bytes of the zip. */
export async function caseFile(log: CaseLog, parts: CaseFileParts): Promise<Uint8Array> {
  const { sealed, policy, about, print, documents } = parts;
  const { checkpoint, tag, events } = sealed;
  const files: Record<string, Uint8Array> = {};
  const put = (name: string, content: string | Uint8Array): void => {
    files[name] = typeof content === 'string' ? Buffer.from(content) : content;
  };
  const hashes = hashesIn(log.read, checkpoint.size);
  for (const { index, event } of events) {
    put(`events/${index}.json`, canonicalEvent(event));
    const proof = await inclusionProof(index, checkpoint.size, hashes);
    put(`events/${index}.tlog-proof`, proofText(index, proof, checkpoint.note));
  }
  const manifest: Manifest = {
    format: 'case-file@v1',
    ...about,
    caseTag: tag.toString('base64'),
    events: events.map(({ index }) => index),
    eventsOfCase: events.filter(({ ofCase }) => ofCase).length,
    origin: checkpoint.origin,
    checkpointSize: checkpoint.size,
    firstEventAt: events[0]?.event.metadata.occurredAt ?? '',
    lastEventAt: events.at(-1)?.event.metadata.occurredAt ?? '',
    documents: [...documents.keys()],
  };
  const timeline = timelineOf(manifest, events);
  const pdf = await print(timeline);
  put('manifest.json', `${JSON.stringify(manifest, null, 2)}\n`);
  put('checkpoint', checkpoint.note);
  put('policy', policy);
  put('timeline.html', timeline);
  if (pdf !== null) put('timeline.pdf', pdf);
  for (const [name, content] of documents) put(`documents/${name}`, content);
  for (const [name, content] of Object.entries(await verifiers())) put(name, content);
  return zipSync(files);
}

/** The programs that check case files, by their names. The page is one file, so that it works without a network. */
export async function verifiers(): Promise<Readonly<Record<string, string>>> {
  const [page = '', verifier = '', timeline = ''] = await Promise.all(
    ['verify-page.html', 'verify-case.mjs', 'case-timeline.mjs'].map(ownFile),
  );
  return {
    'verify-case.mjs': verifier,
    'verify.html': page.replace('/* programs */', () => `${verifier}\n${timeline}`),
  };
}

function ownFile(name: string): Promise<string> {
  return readFile(new URL(name, import.meta.url), 'utf8');
}
