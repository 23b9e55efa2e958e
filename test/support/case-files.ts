// A sealed log in memory, and case files of it. The tests of the verifiers change these files.
import { hash } from 'node:crypto';
import { unzipSync, zipSync } from 'fflate';
import { canonicalJson } from '../../src/kernel/canonical-json.js';
import { categoryOf, idOf, type RecordedEvent } from '../../src/kernel/domain-event.js';
import { newId } from '../../src/kernel/ids.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { NO_CASE } from '../../src/ports/case-tags.js';
import { type CaseLog, caseFile, sealedCase } from '../../src/transparency/case-file.js';
import { checkpointText, policyText } from '../../src/transparency/checkpoint.js';
import { entryOf } from '../../src/transparency/event-entry.js';
import { rootOf } from '../../src/transparency/merkle-tree.js';
import { SealKeys } from '../../src/transparency/seal-keys.js';
import { grown, hashesIn } from '../../src/transparency/tiles.js';

const ORIGIN = 'https://log.example';
export const KEYS = new SealKeys(`k1:${Buffer.alloc(32, 1).toString('base64')}`, ORIGIN);
export const OTHER_KEYS = new SealKeys(`k2:${Buffer.alloc(32, 2).toString('base64')}`, ORIGIN);

/** Screenings with three events, a report with two, and a delivery that no case owns. */
export class LogInMemory {
  readonly events: RecordedEvent[] = [];
  readonly screenings: string[] = [];
  readonly files = new Map<string, Buffer>();
  readonly read = async (path: string): Promise<Buffer | null> => this.files.get(path) ?? null;
  note = '';

  static async of(cases: number): Promise<LogInMemory> {
    const log = new LogInMemory();
    for (let at = 0; at < cases; at++) log.addCase();
    await log.seal();
    return log;
  }

  addCase(): void {
    const id = newId();
    this.screenings.push(id);
    for (const [stream, type] of [
      [`screening-${id}`, 'ScreeningSubmitted'],
      [`screening-${id}`, 'IdentityVerified'],
      [`webhook_delivery-${id}`, 'DeliverySucceeded'],
      [`report-${id}`, 'ReportRequested'],
      [`screening-${id}`, 'ScreeningCompleted'],
      [`report-${id}`, 'ReportViewed'],
    ] as const)
      this.add(stream, type);
  }

  add(stream: string, type: string, data: object = { purpose: 'TENANT_SCREENING', note: '<b>"quoted"</b>' }): void {
    const at = String(this.events.length);
    const metadata = {
      schemaVersion: 1,
      accountId: null,
      environment: null,
      occurredAt: '2026-03-01T12:00:00.000Z',
      $correlationId: at,
      $causationId: at,
      actor: { kind: 'secret-key', id: 'key-1' },
      chain: { alg: 'sha-256', prev: '', hash: '' },
    } as const;
    const revision = this.events.filter((event) => event.stream === stream).length;
    this.events.push({ id: newId(), stream, revision, position: at.padStart(9, '0'), type, data, metadata });
  }

  tagOf = async ({ stream }: RecordedEvent): Promise<Buffer> =>
    ['screening', 'report'].includes(categoryOf(stream)) ? hash('sha256', idOf(stream), 'buffer') : NO_CASE;

  async seal(keys = KEYS): Promise<void> {
    const entries = await Promise.all(this.events.map(async (event) => entryOf(event, await this.tagOf(event))));
    this.files.clear();
    for (const [path, content] of await grown(this.read, 0, entries)) this.files.set(path, content);
    const size = entries.length;
    const root = await rootOf(size, hashesIn(this.read, size));
    this.note = keys.signer.note(checkpointText({ origin: keys.origin, size, root }));
    this.files.set('checkpoint', Buffer.from(this.note));
  }

  /** The case file of a screening. `without`: types of events that the exporter hides. */
  async caseOf(
    screening: string,
    { keys = KEYS, documents = new Map<string, Uint8Array>() } = {},
  ): Promise<Uint8Array> {
    const store = { readAll: async (after: string | null) => (after === null ? this.events : []) };
    const log: CaseLog = { store: store as unknown as EventStore, tagOf: this.tagOf, read: this.read };
    const about = this.events.filter(({ stream }) => idOf(stream) === screening);
    const checkpoint = keys.open(this.note);
    if (checkpoint === null) throw new Error('The log has another key');
    const sealed = await sealedCase(log, about, { ...checkpoint, note: this.note, isPublished: true });
    if (sealed === null) throw new Error('The case is not sealed');
    return caseFile(log, {
      sealed,
      policy: policyText(keys.verifiers),
      about: {
        screening,
        purpose: 'a court order',
        actor: { kind: 'operator', id: 'ada' },
        exportedAt: '2026-03-02T09:00:00.000Z',
      },
      print: async () => Buffer.from('%PDF-'),
      documents,
    });
  }
}

export type ChangeFiles = (files: Record<string, Uint8Array>) => void;

export function changed(zip: Uint8Array, change: ChangeFiles): Uint8Array {
  const files = unzipSync(zip);
  change(files);
  return zipSync(files);
}

export function changeJson(files: Record<string, Uint8Array>, name: string, change: (value: never) => object): void {
  const value = JSON.parse(Buffer.from(files[name] ?? []).toString()) as never;
  files[name] = Buffer.from(canonicalJson(change(value)));
}

export function removed(files: Record<string, Uint8Array>, ...names: readonly string[]): void {
  for (const name of names) Reflect.deleteProperty(files, name);
}
