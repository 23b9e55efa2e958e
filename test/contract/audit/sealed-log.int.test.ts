// The transparency log over a real log and real files. The sealer signs what the log says. `ops audit verify` and the
// sealer find every later change, and name the event or the file.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { DiskTransparencyFiles } from '../../../src/adapters/transparency-files/disk.js';
import type { EventMetadata, RecordedEvent } from '../../../src/kernel/domain-event.js';
import { newId, newSalt } from '../../../src/kernel/ids.js';
import type { JsonObject } from '../../../src/kernel/json.js';
import type { NewEvent, StreamAppend } from '../../../src/ports/event-store.js';
import { caseTagsOf } from '../../../src/modules/case-tags.js';
import { genesisOf, linkTo } from '../../../src/platform/audit/chain.js';
import { NO_CASE } from '../../../src/ports/case-tags.js';
import { policyText, readCheckpoint } from '../../../src/transparency/checkpoint.js';
import { SealKeys } from '../../../src/transparency/seal-keys.js';
import { Sealer, type SealerObserver } from '../../../src/transparency/sealer.js';
import { entriesOf } from '../../../src/transparency/tiles.js';
import { type TreeReport, verifyTree } from '../../../src/transparency/verify-tree.js';
import { until } from '../../support/eventually.js';
import { ALONE_IN_THE_WORLD } from '../../support/sealing.js';

/** An event of the test's log, before the log gives it a position and a link. */
interface Plain {
  readonly stream: string;
  readonly id: string;
  readonly type: string;
  readonly data: object;
  readonly metadata?: EventMetadata;
}

const ORIGIN = 'https://log.example';
const KEYS = new SealKeys(`k1:${Buffer.alloc(32, 1).toString('base64')}`, ORIGIN);
const OTHER_KEYS = new SealKeys(`k2:${Buffer.alloc(32, 2).toString('base64')}`, ORIGIN);
/** The people of the log. Each has a screening, a report, a payment, an account's credit and more: eleven events. */
const PEOPLE = 50;

const METADATA: EventMetadata = {
  schemaVersion: 1,
  accountId: null,
  environment: null,
  occurredAt: '2026-03-01T12:00:00.000Z',
  $correlationId: 'test',
  $causationId: 'test',
  actor: { kind: 'system', id: 'test' },
  chain: { alg: 'sha-256', prev: '', hash: '' },
};

const folder = mkdtempSync(join(tmpdir(), 'sealed-log-'));
let copies = 0;
const open: EmbeddedEventStore[] = [];
let store: EmbeddedEventStore;
/** The log as it was sealed. */
let events: RecordedEvent[];
let sessions: string[];
/** The checkpoint before the last one. */
let earlier: string;

const SEALED = join(folder, 'sealed');

beforeAll(async () => {
  store = openLog();
  sessions = Array.from({ length: PEOPLE }, () => newId());
  const first = sessions.flatMap((id, index) => eventsOf(id, index));
  await fill(store, first.slice(0, 300));
  const sealer = seal(store, SEALED);
  await until(() => sealer.size >= 300);
  earlier = readFileSync(join(SEALED, 'checkpoint'), 'utf8');
  await fill(store, first.slice(300));
  await until(() => sealer.size >= first.length + PEOPLE / 2);
  await sealer.stop();
  events = await store.readAll(null, 10_000);
});

afterAll(async () => {
  for (const each of open) await each.close();
  rmSync(folder, { recursive: true });
});

describe('a sealed log', () => {
  it('has every event in the order of the log, and the tags of each case count all its events', async () => {
    const head = readCheckpoint(readFileSync(join(SEALED, 'checkpoint'), 'utf8'));
    expect(head).toMatchObject({ origin: 'log.example/log', size: events.length });
    expect(await verified(store, SEALED)).toEqual({ sealed: events.length, faults: [] });
    const files = new DiskTransparencyFiles(SEALED);
    const entries: Buffer[] = [];
    for (let index = 0; index * 256 < events.length; index++) {
      const width = Math.min(256, events.length - index * 256);
      const path = `tile/entries/${String(index).padStart(3, '0')}${width < 256 ? `.p/${width}` : ''}`;
      entries.push(...entriesOf((await files.read(path)) as Buffer));
    }
    const tags = entries.map((entry) => entry.subarray(0, 32).toString('hex'));
    const own = tags.filter((tag) => tag !== NO_CASE.toString('hex'));
    // Screening, report, looks, payment and income: eight events of a case.
    expect([...new Set(own)].map((tag) => own.filter((other) => other === tag).length)).toEqual(sessions.map(() => 8));
    // Each person has one salt: half of them had one from the beginning.
    expect(events.filter(({ type }) => type === 'CaseSaltStored')).toHaveLength(PEOPLE / 2);
  });

  it('gets the same files again when all of them are lost, or only the tiles', async () => {
    for (const kept of [[], ['checkpoint', 'resume.json'], ['checkpoint', 'tile/entries']]) {
      const copy = copyOf(SEALED);
      for (const path of filesIn(copy)) if (!kept.some((name) => path.startsWith(name))) rmSync(join(copy, path));
      const sealer = seal(store, copy);
      await until(() => sealer.size === events.length);
      await sealer.stop();
      for (const path of [...tilesNow(), 'checkpoint', 'policy'])
        expect(readFileSync(join(copy, path))).toEqual(readFileSync(join(SEALED, path)));
    }
  });

  it('goes on after a write that failed at any file, and never shows a checkpoint without its tiles', async () => {
    for (let writes = 0, isComplete = false; !isComplete; writes++) {
      const copy = copyOf(SEALED);
      for (const path of filesIn(copy)) rmSync(join(copy, path));
      const sealer = seal(store, copy, { writes });
      await until(() => sealer.failures > 0 || sealer.size === events.length);
      await sealer.stop();
      isComplete = sealer.failures === 0;
      const { sealed, faults } = await verified(store, copy);
      expect([faults, [null, events.length].includes(sealed)]).toEqual([[], true]);
      const next = seal(store, copy);
      await until(() => next.size === events.length);
      await next.stop();
      expect(await verified(store, copy)).toEqual({ sealed: events.length, faults: [] });
    }
  });

  it('keeps the checkpoints of an earlier key and of an earlier address valid', async () => {
    const copy = copyOf(SEALED);
    const keys = new SealKeys(
      `k2:${Buffer.alloc(32, 2).toString('base64')},${KEYS.signer.verifier.text}`,
      'https://new.example',
    );
    expect(await verified(store, copy, keys)).toEqual({ sealed: events.length, faults: [] });
    const grown = await rewritten(events.concat(events.slice(0, 3).map((event) => ({ ...event, id: newId() }))));
    const sealer = seal(grown, copy, { keys });
    await until(() => sealer.size === events.length + 3);
    await sealer.stop();
    expect(readFileSync(join(copy, 'policy'), 'utf8')).toBe(
      `log ${keys.signer.verifier.text}\nlog ${KEYS.signer.verifier.text}\n\nquorum none\n`,
    );
    expect(keys.open(readFileSync(join(copy, 'checkpoint'), 'utf8'))?.origin).toBe('new.example/log');
  });
});

describe('a change of the log after the seal', () => {
  const bad = (index: number): object => ({
    eventId: expect.any(String),
    fault: `is not the event that was sealed at index ${index}`,
  });

  it.each<[string, (log: readonly RecordedEvent[]) => readonly Plain[], () => object[]]>([
    [
      'an event altered and its stream chained again',
      (log) => log.map((event, index) => (index === 277 ? { ...event, data: { ...event.data, forged: true } } : event)),
      () => [{ ...bad(277), stream: events[277]?.stream, revision: events[277]?.revision }],
    ],
    [
      'an event removed from the middle',
      (log) => log.filter((_, index) => index !== 100),
      () => [bad(100), shorter(1)],
    ],
    // The newest events include the salts of older persons.
    [
      'the tail cut',
      (log) => log.slice(0, -20),
      () => [{ fault: expect.stringMatching(/^has another case than/) }, shorter(20)],
    ],
    ['the whole log replaced', (log) => log.map((event) => ({ ...event, id: newId() })), () => [bad(0)]],
    [
      'two streams swapped',
      (log) => {
        const [one, other] = sessions.slice(10, 12).map((id) => log.filter(({ stream }) => stream === `report-${id}`));
        return log.map((event) => {
          const place = (one ?? []).indexOf(event) + (other ?? []).indexOf(event) + 1;
          if (event.stream !== one?.[0]?.stream && event.stream !== other?.[0]?.stream) return event;
          const swapped = (event.stream === one?.[0]?.stream ? other : one)?.[place];
          return { ...(swapped as RecordedEvent), stream: event.stream };
        });
      },
      () => [{ stream: `report-${sessions[10]}`, revision: 0 }],
    ],
    ['all events lost', () => [], () => [shorter(events.length)]],
  ])('is found and named: %s', async (_, change, found) => {
    const changed = await rewritten(change(events));
    const copy = copyOf(SEALED);
    const { faults } = await verified(changed, copy);
    expect(faults).toEqual(found().map((fault) => expect.objectContaining(fault)));
    // When the log grows again, the sealer signs nothing if the log ended differently. Otherwise the fault stays.
    await fill(
      changed,
      Array.from({ length: 30 }, () => plain(`credit-${newId()}`, 'CreditGranted', {})),
    );
    const isEndTheSame = (await changed.readAll(null, 10_000))[events.length - 1]?.id === events.at(-1)?.id;
    if (!isEndTheSame) return expectNoSeal(changed, copy, /^The log (has|is not)/);
    const sealer = seal(changed, copy);
    await until(() => sealer.size === events.length + 30);
    await sealer.stop();
    expect((await verified(changed, copy)).faults).toEqual(faults);
  });

  function shorter(by: number): object {
    return {
      position: null,
      fault: `the log has ${events.length - by} events, but transparency/checkpoint covers ${events.length}`,
    };
  }
});

describe('a change of the files', () => {
  it('is found and named: a byte of each tile, and each tile removed', async () => {
    for (const path of tilesNow()) {
      const copy = copyOf(SEALED);
      const content = readFileSync(join(copy, path));
      content[content.length >> 1] = (content[content.length >> 1] ?? 0) ^ 1;
      writeFileSync(join(copy, path), content);
      const fault = { position: null, fault: `transparency/${path} is missing, or is not the one of the checkpoint` };
      expect((await verified(store, copy)).faults).toEqual([fault]);
      if (path.startsWith('tile/entries/')) continue;
      rmSync(join(copy, path));
      expect((await verified(store, copy)).faults).toEqual([fault]);
    }
  });

  it('is found and named: an event and its entry altered together', async () => {
    const copy = copyOf(SEALED);
    const changed = await rewritten(events.map((event, index) => (index === 3 ? { ...event, data: {} } : event)));
    const path = join(copy, 'tile/entries/000');
    const content = readFileSync(path);
    content.fill(7, 3 * 66 + 40, 3 * 66 + 60);
    writeFileSync(path, content);
    const faults = (await verified(changed, copy)).faults.map(({ fault }) => fault);
    expect(faults[0]).toBe('is not the event that was sealed at index 3, or the entry was changed');
    expect(faults).toContain('transparency/tile/entries/000 is missing, or is not the one of the checkpoint');
  });

  it.each<[string, (copy: string) => void, RegExp]>([
    [
      'the checkpoint rolled back',
      (copy) => writeFileSync(join(copy, 'checkpoint'), earlier),
      /^transparency\/checkpoint was rolled back: it covers 3\d\d events, but there is transparency\/tile\/entries\/00/,
    ],
    ['the checkpoint removed', (copy) => rmSync(join(copy, 'checkpoint')), /^transparency\/checkpoint is missing/],
    [
      'the checkpoint signed by another key',
      (copy) =>
        writeFileSync(join(copy, 'checkpoint'), OTHER_KEYS.signer.note(earlier.slice(0, earlier.indexOf('\n\n') + 1))),
      /^transparency\/checkpoint is not signed by a key of SEAL_SIGNING_KEY/,
    ],
    [
      'the size of the checkpoint altered',
      (copy) =>
        writeFileSync(join(copy, 'checkpoint'), readFileSync(join(copy, 'checkpoint'), 'utf8').replace(/\n\d/, '\n1')),
      /^transparency\/checkpoint is not signed/,
    ],
  ])('is found and named: %s', async (_, change, found) => {
    const copy = copyOf(SEALED);
    change(copy);
    expect((await verified(store, copy)).faults).toEqual([{ position: null, fault: expect.stringMatching(found) }]);
    await expectNoSeal(store, copy, found);
  });
});

/** The sealer raises its alarm, and writes no checkpoint. */
async function expectNoSeal(log: EmbeddedEventStore, copy: string, reason: RegExp): Promise<void> {
  const before = filesIn(copy).map((path) => [path, readFileSync(join(copy, path), 'base64')]);
  const sealer = seal(log, copy);
  await until(() => sealer.reason !== null);
  await sealer.stop();
  expect(sealer.reason).toMatch(reason);
  expect(filesIn(copy).map((path) => [path, readFileSync(join(copy, path), 'base64')])).toEqual(before);
}

function verified(log: EmbeddedEventStore, copy: string, keys = KEYS): Promise<TreeReport> {
  const files = new DiskTransparencyFiles(copy);
  return verifyTree({ store: log, tagOf: caseTagsOf(log, { records: false }), files, keys });
}

interface Running {
  readonly size: number;
  readonly reason: string | null;
  readonly failures: number;
  stop(): Promise<void>;
}

/** `writes`: the number of writes after which the disk is full. */
function seal(log: EmbeddedEventStore, copy: string, { keys = KEYS, writes = Infinity } = {}): Running {
  const seen = { size: 0, reason: null as string | null, failures: 0 };
  const observer: SealerObserver = {
    stopped: (reason) => (seen.reason ??= reason?.message ?? null),
    failed: () => (seen.failures += 1),
    sealed: (size) => (seen.size = size),
    asked: () => undefined,
    weak: () => undefined,
  };
  const leases = { take: async () => true, release: async () => undefined };
  const files = new FillingDisk(copy, writes);
  const sealer = new Sealer(
    {
      store: log,
      tagOf: caseTagsOf(log, { records: true }),
      files,
      keys,
      leases,
      outside: { ...ALONE_IN_THE_WORLD, policy: policyText(keys.verifiers) },
    },
    observer,
    1,
    5,
  );
  sealer.start();
  return Object.defineProperties({} as Running, {
    size: { get: () => seen.size },
    reason: { get: () => seen.reason },
    failures: { get: () => seen.failures },
    stop: { value: () => sealer.stop() },
  });
}

class FillingDisk extends DiskTransparencyFiles {
  constructor(
    copy: string,
    private left: number,
  ) {
    super(copy);
  }

  override async write(path: string, content: Uint8Array): Promise<void> {
    if (--this.left < 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    await super.write(path, content);
  }

  override async replace(path: string, before: string | null, content: string): Promise<boolean> {
    if (--this.left < 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    return super.replace(path, before, content);
  }
}

function openLog(): EmbeddedEventStore {
  const log = EmbeddedEventStore.open({ directory: join(folder, `log-${++copies}`), mapSizeBytes: 2 ** 26 });
  open.push(log);
  return log;
}

/** A log with these events, whose chains and indexes are right. */
async function rewritten(log: readonly Plain[]): Promise<EmbeddedEventStore> {
  const changed = openLog();
  await fill(changed, log);
  return changed;
}

/** Few commits store many events. Each event keeps its metadata, and gets a new link. */
async function fill(log: EmbeddedEventStore, added: readonly Plain[]): Promise<void> {
  const links = new Map<string, { readonly revision: number; readonly hash: string }>();
  for (const { stream, revision, metadata } of await log.readAll(null, 10_000))
    links.set(stream, { revision, hash: metadata.chain.hash });
  let together: (StreamAppend & { readonly events: NewEvent[] })[] = [];
  const store = async (): Promise<void> => {
    if (together.length > 0) await log.appendTogether(together);
    together = [];
  };
  for (const { stream, id, type, data, metadata } of added) {
    const { revision, hash } = links.get(stream) ?? { revision: -1, hash: genesisOf(stream) };
    const { chain: _, ...content } = metadata ?? METADATA;
    const chain = linkTo(hash, { id, type, stream, revision: revision + 1, data, metadata: content });
    const event = { id, type, data: data as JsonObject, metadata: { ...content, chain } as unknown as JsonObject };
    if (together.at(-1)?.stream !== stream) {
      if (together.some((append) => append.stream === stream)) await store();
      together.push({ stream, expected: revision < 0 ? 'no-stream' : revision, events: [] });
    }
    together.at(-1)?.events.push(event);
    links.set(stream, { revision: revision + 1, hash: chain.hash });
  }
  await store();
}

function plain(stream: string, type: string, data: object): Plain {
  return { stream, id: newId(), type, data };
}

/** Every second person had a salt from the beginning. */
function eventsOf(id: string, index: number): Plain[] {
  const [personId, paymentId, incomeId] = [newId(), newId(), newId()];
  const opened = { sessionId: id, subjectId: newId(), ...(index % 2 === 0 && { salt: newSalt() }) };
  return [
    plain(`person-${personId}`, 'ScreeningOpened', opened),
    plain(`screening-${id}`, 'ScreeningSubmitted', { personId }),
    plain(`screening-${id}`, 'IdentityVerified', {}),
    plain(`credit-account`, 'CreditTaken', { sessionId: id }),
    plain(`report-${id}`, 'ReportRequested', { index }),
    plain(`report-${id}`, 'ReportReleased', {}),
    plain(`payment-${paymentId}`, 'PaymentOpened', { sessionId: id }),
    plain(`payment-${paymentId}`, 'PaymentSucceeded', {}),
    plain(`report_looks-${id}`, 'ReportViewed', { sessionId: id }),
    plain(`income-${incomeId}`, 'IncomeSessionOpened', { screeningSessionId: id }),
    plain(`webhook_delivery-${newId()}`, 'DeliveryScheduled', { sessionId: id }),
  ];
}

function copyOf(from: string): string {
  const copy = join(folder, `copy-${++copies}`);
  cpSync(from, copy, { recursive: true });
  return copy;
}

/** The tiles of the last checkpoint. Partial tiles of earlier checkpoints stay until the tile is full. */
function tilesNow(): string[] {
  const present = filesIn(SEALED).filter((path) => path.startsWith('tile/'));
  const tiles = new Set(present.map((path) => path.replace(/\.p\/.*/, '')));
  const width = (path: string): number => Number(path.split('.p/')[1] ?? 256);
  return [...tiles].map(
    (tile) =>
      present.filter((path) => path.startsWith(tile)).sort((one, other) => width(other) - width(one))[0] as string,
  );
}

function filesIn(copy: string): string[] {
  return (readdirSync(copy, { recursive: true }) as string[])
    .filter((path) => statSync(join(copy, path)).isFile())
    .map((path) => relative(copy, join(copy, path)))
    .sort();
}
