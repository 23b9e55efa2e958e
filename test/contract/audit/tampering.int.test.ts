// `ops audit verify` finds what an attacker with access to the disk changed, and verifies the rest. The tests use
// copies of a log and a vault as the service writes them. The tests change the copies through the database library,
// which leaves no trace.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Database, open } from 'lmdb';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { DiskVault } from '../../../src/adapters/vault/disk.js';
import { ErasureLedger } from '../../../src/adapters/vault/erasure-ledger.js';
import { MasterKeys } from '../../../src/adapters/vault/master-keys.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { derivedId, newId } from '../../../src/kernel/ids.js';
import type { JsonObject } from '../../../src/kernel/json.js';
import type { GivenUp } from '../../../src/ops/given-up.js';
import { SubjectAudit } from '../../../src/ops/subject-audit.js';
import { VAULT_KNOWLEDGE } from '../../../src/ops/vault-knowledge.js';
import { rangesOf, walkInThreads } from '../../../src/ops/verify-in-threads.js';
import { genesisOf, linkTo } from '../../../src/platform/audit/chain.js';
import { VaultAudit } from '../../../src/platform/audit/vault-audit.js';
import { type LogReport, verifyLog } from '../../../src/platform/audit/verify.js';
import { EventLogDamaged, type EventStore } from '../../../src/ports/event-store.js';
import type { LogFault } from '../../../src/ports/inspectable-log.js';
import { masterKey } from '../vault/suite.js';

type Bytes = Buffer<ArrayBufferLike>;
interface Trees {
  readonly events: Database<Bytes, Bytes>;
  readonly positions: Database<Bytes, Bytes>;
  readonly heads: Database<Bytes, Bytes>;
  readonly ids: Database<Bytes, Bytes>;
}

const THREAD = pathToFileURL(join(import.meta.dirname, '../../../dist/src/ops/verify-thread.js'));
const KEYS = MasterKeys.parse(masterKey('k'));
/** The number of people in the log. Each person has a screening session, a report and a person stream. */
const PEOPLE = 8;
/**
 * The position before the third person's seven events: three of the session, three of the report, and one of the
 * person.
 */
const THIRD = 15;

describe('audit verify', () => {
  let folder: string;
  let store: EmbeddedEventStore;
  let vault: DiskVault;
  let people: {
    readonly sessionId: string;
    readonly personId: string;
    readonly subjectId: string;
    readonly reportId: string;
  }[];

  const openAll = (): void => {
    store = EmbeddedEventStore.open({ directory: join(folder, 'events') });
    vault = DiskVault.open({ directory: join(folder, 'vault'), keys: KEYS, clock: new SystemClock() });
  };
  const closeAll = async (): Promise<void> => {
    await store.close();
    await vault.close();
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tampering-'));
    openAll();
    people = [];
    for (let n = 0; n < PEOPLE; n++) {
      const [sessionId, personId, reportId] = [newId(), newId(), newId()];
      const subjectId = derivedId('vault-subject', personId, '0');
      people.push({ sessionId, personId, subjectId, reportId });
      await vault.put(subjectId, `screening:${sessionId}`, Buffer.from('{"vendorSession":"v","questions":null}'));
      await vault.put(subjectId, `report:${reportId}`, Buffer.from('{"score":null,"report":{}}'));
      await append(
        store,
        `screening-${sessionId}`,
        ['ScreeningSubmitted', { subjectId, personId }],
        ['VerificationRequested', {}],
        ['IdentityVerified', {}],
      );
      await append(store, `person-${personId}`, ['ScreeningOpened', { sessionId, subjectId }]);
      await append(
        store,
        `report-${sessionId}`,
        ['ReportRequested', { reportId, subjectId }],
        ['ReportReleased', { reportId }],
        ['ReportNoted', { text: 'é' }],
      );
    }
  });

  afterEach(async () => {
    await closeAll();
    rmSync(folder, { recursive: true });
  });

  async function verify(
    since: string | null = null,
    signal?: AbortSignal,
  ): Promise<{ report: LogReport; faults: LogFault[] }> {
    const faults: LogFault[] = [];
    const report = await verifyLog(store, {
      since,
      vault: new VaultAudit(store, vault, VAULT_KNOWLEDGE),
      onFault: (fault) => faults.push(fault),
      ...(signal && { signal }),
    });
    expect(report.faults).toBe(faults.length);
    if (!signal) await verifyInThreads(since, report, faults);
    return { report, faults };
  }

  /**
   * The command divides a long log between threads. The threads must find the same faults as one thread, whatever the borders of their ranges.
   */
  async function verifyInThreads(since: string | null, report: LogReport, faults: readonly LogFault[]): Promise<void> {
    const found: LogFault[] = [];
    const data = { directory: join(folder, 'events'), mapSizeBytes: 2 ** 30 };
    const ranges = rangesOf(since, await store.head(), 5);
    const reported = await verifyLog(store, {
      since,
      vault: new VaultAudit(store, vault, VAULT_KNOWLEDGE),
      onFault: (fault) => found.push(fault),
      walked: (chosenTypes) => walkInThreads(ranges, { ...data, chosenTypes }, THREAD),
    });
    // A fault that only follows from another may differ: when an event begins a range, the audit compares it with the
    // indexes.
    const itself = (all: readonly LogFault[]): string[] =>
      all
        .filter(({ fault }) => fault !== 'revision out of order')
        .map((fault) => JSON.stringify(fault))
        .sort();
    expect(itself(found)).toEqual(itself(faults));
    const places = (all: readonly LogFault[]): (string | null)[] => all.map(({ position }) => position);
    expect(places(found)).toEqual(expect.arrayContaining(places(faults)));
    expect(reported).toMatchObject({ events: report.events, streams: report.streams, through: report.through });
    if (faults.length === 0) expect(reported).toEqual(report);
  }

  /** Changes the log while no process has it open. */
  async function tamper(change: (trees: Trees) => void): Promise<void> {
    await closeAll();
    const root = open<Bytes, Bytes>({
      path: join(folder, 'events', 'events.mdb'),
      noSubdir: true,
      maxDbs: 8,
      encoding: 'binary',
      keyEncoding: 'binary',
    });
    const tree = (name: string): Database<Bytes, Bytes> =>
      root.openDB<Bytes, Bytes>({ name, encoding: 'binary', keyEncoding: 'binary' });
    change({ events: tree('events'), positions: tree('positions'), heads: tree('heads'), ids: tree('ids') });
    await root.close();
    openAll();
  }

  async function tamperVault(change: (entries: Database<Bytes, string>) => void): Promise<void> {
    await closeAll();
    const root = open<unknown, string>({
      path: join(folder, 'vault', 'values.mdb'),
      noSubdir: true,
      maxDbs: 8,
      encoding: 'json',
    });
    change(root.openDB<Bytes, string>({ name: 'entries', encoding: 'binary' }));
    await root.close();
    openAll();
  }

  const told = (faults: readonly LogFault[]): unknown[] =>
    faults.map(({ position, stream, revision, fault }) => [
      position === null ? null : Number(position),
      stream?.replace(/-.*/, '') ?? null,
      revision ?? null,
      fault,
    ]);
  const third = (): (typeof people)[number] => people[2]!;

  it('finds no fault in an unchanged log, and counts its events', async () => {
    const { report, faults } = await verify();
    expect(faults).toEqual([]);
    expect(report).toEqual({
      events: 7 * PEOPLE,
      streams: 3 * PEOPLE,
      through: place(7 * PEOPLE),
      brokenLinks: 0,
      faults: 0,
    });
  });

  it('finds no fault in an empty log', async () => {
    const empty = EmbeddedEventStore.open({ directory: join(folder, 'empty') });
    const faults: LogFault[] = [];
    expect(await verifyLog(empty, { onFault: (fault) => faults.push(fault) })).toEqual({
      events: 0,
      streams: 0,
      through: null,
      brokenLinks: 0,
      faults: 0,
    });
    expect(faults).toEqual([]);
    await empty.close();
  });

  it('continues at the end of an earlier run, even in the middle of a stream', async () => {
    const stop = new AbortController();
    stop.abort();
    expect((await verify(null, stop.signal)).report).toMatchObject({ events: 0, through: null });
    const { report, faults } = await verify(place(THIRD + 1));
    expect([report.events, report.through, faults]).toEqual([7 * PEOPLE - THIRD - 1, place(7 * PEOPLE), []]);
    await append(store, `report-${third().sessionId}`, ['ReportNoted', { text: 'later' }]);
    expect((await verify(report.through)).report).toEqual({
      events: 1,
      streams: 0,
      through: place(7 * PEOPLE + 1),
      brokenLinks: 0,
      faults: 0,
    });
  });

  it('reports a log that ends before the verified position', async () => {
    expect(told((await verify(place(1_000))).faults)).toEqual([
      [7 * PEOPLE, null, null, `the log ends here, before position ${place(1_000)}`],
    ]);
  });

  describe('a deleted event', () => {
    beforeEach(() => tamper(({ events }) => events.removeSync(key(THIRD + 1))));

    it('is named, and the following events are verified', async () => {
      const { report, faults } = await verify();
      expect(report.events).toBe(7 * PEOPLE - 1);
      expect(told(faults)).toEqual([
        [THIRD + 1, null, null, 'missing from the log'],
        [null, null, null, `the index of events has ${7 * PEOPLE - 1} entries where ${7 * PEOPLE} belong`],
      ]);
    });

    it('makes every reader of the log fail, and is never mistaken for the end of the log', async () => {
      await expect(store.readAll(null, 1_000)).rejects.toThrow(EventLogDamaged);
      await expect(store.readAll(null, 1_000)).rejects.toThrow(`position ${place(THIRD + 1)} is missing`);
      const following = store
        .subscribe({ after: place(THIRD), signal: new AbortController().signal })
        [Symbol.asyncIterator]();
      await expect(following.next()).rejects.toThrow(EventLogDamaged);
      await expect(store.readStream(`screening-${third().sessionId}`)).rejects.toThrow(
        `Revision 1 of screening-${third().sessionId} is missing`,
      );
      expect(await store.readAll(place(THIRD + 1), 1_000)).toHaveLength(7 * PEOPLE - THIRD - 1);
      expect(store.missingEvents()).toBe(1);
    });
  });

  it('reports a gap in the log as one fault, whatever the length of the gap', async () => {
    await tamper(({ events }) => {
      for (let position = 1; position <= 14; position++) events.removeSync(key(position));
    });
    const { faults } = await verify();
    expect(faults[0]).toEqual({ position: place(1), through: place(14), fault: 'missing from the log' });
    expect(faults.filter(({ position }) => position !== null)).toHaveLength(1);
  });

  it.each<[string, (segments: Database<Bytes, Bytes>) => unknown]>([
    ['cannot be read', (segments) => segments.putSync(key(5), Buffer.from('no segment'))],
    ['is gone', (segments) => segments.removeSync(key(5))],
  ])('reports a segment that %s as one fault, even if streams continue after it', async (_what, damage) => {
    const directory = join(folder, 'segments');
    const options = { directory, uncompressedEvents: 0, segmentEvents: 4 };
    let log = EmbeddedEventStore.open(options);
    for (let round = 0; round < 4; round++)
      for (let stream = 0; stream < 4; stream++) await append(log, `report-${stream}`, ['ReportNoted', { round }]);
    await append(log, 'report-last', ['ReportNoted', {}]);
    await log.compress();
    await log.close();
    const root = open<Bytes, Bytes>({
      path: join(directory, 'events.mdb'),
      noSubdir: true,
      maxDbs: 8,
      encoding: 'binary',
      keyEncoding: 'binary',
    });
    damage(root.openDB<Bytes, Bytes>({ name: 'segments', encoding: 'binary', keyEncoding: 'binary' }));
    await root.close();
    log = EmbeddedEventStore.open(options);
    const faults: LogFault[] = [];
    await verifyLog(log, { onFault: (fault) => faults.push(fault) });
    await log.close();
    expect(faults.filter(({ position }) => position !== null)).toEqual([
      expect.objectContaining({ position: place(5), through: place(8) }),
    ]);
  });

  it('finds no fault if the end of a log was removed together with its index entries, because the rest of the log is consistent', async () => {
    await tamper((trees) => {
      trees.events.removeSync(key(7 * PEOPLE));
      const { sessionId } = people.at(-1)!;
      trees.positions.removeSync(pair(`report-${sessionId}`, key(2)));
      trees.heads.putSync(Buffer.from(`report-${sessionId}`), key(1));
      trees.ids.removeSync(
        [...trees.ids.getKeys()].find(
          (found) =>
            found.toString('latin1').startsWith(`report-${sessionId}`) &&
            Number(trees.ids.get(found)!.readBigUInt64BE()) === 2,
        )!,
      );
    });
    expect((await verify()).faults).toEqual([]);
  });

  it.each([
    ['data', '"subjectId":"', '"subjectId":"x', 'content does not match its hash'],
    ['metadata', '"$correlationId":"', '"$correlationId":"x', 'content does not match its hash'],
    ['type', '"type":"S', '"type":"T', 'content does not match its hash'],
    ['link', '"prev":"', '"prev":"0', 'does not follow the event before it'],
    ['name of the hash', '"alg":"sha-256"', '"alg":"sha-257"', 'no chain'],
  ])('names the event in which a byte of the %s was changed', async (_what, from, to, fault) => {
    await tamper(({ events }) => rewrite(events, THIRD, (text) => text.replace(from, to)));
    const { report, faults } = await verify();
    expect(report.events).toBe(7 * PEOPLE);
    expect(told(faults)).toContainEqual([THIRD, 'screening', 0, fault]);
    expect(faults.every(({ stream }) => stream?.endsWith(third().sessionId))).toBe(true);
  });

  it('finds a single changed bit anywhere in an event', async () => {
    const stream = (): string => `account-${newId()}`;
    await append(store, stream(), ['AccountOpened', { name: 'Caf\u00e9', parentId: null }]);
    const first = 7 * PEOPLE + 1;
    let length = 0;
    await tamper(({ events }) => void (length = events.get(key(first))!.length));
    for (let byte = 1; byte < length; byte++)
      await append(store, stream(), ['AccountOpened', { name: 'Caf\u00e9', parentId: null }]);
    await tamper(({ events }) => {
      for (let byte = 0; byte < length; byte++) {
        const changed = Buffer.from(events.get(key(first + byte))!);
        changed[byte] = (changed[byte] as number) ^ (1 << (byte % 8));
        events.putSync(key(first + byte), changed);
      }
    });
    const found = new Set((await verify(place(first - 1))).faults.map(({ position }) => Number(position)));
    const unnoticed = Array.from({ length }, (_, byte) => byte).filter((byte) => !found.has(first + byte));
    expect(unnoticed).toEqual([]);
  });

  it('names the position of an event that is no longer JSON, and verifies the following events', async () => {
    await tamper(({ events }) => rewrite(events, THIRD + 1, (text) => text.slice(0, -1)));
    const { report, faults } = await verify();
    expect([report.events, told(faults)]).toEqual([7 * PEOPLE - 1, [[THIRD + 1, 'screening', 1, 'unreadable']]]);
    const reading = store.readAll(null, 1_000);
    await expect(reading).rejects.toThrow(EventLogDamaged);
    await expect(reading).rejects.toThrow(
      `position ${place(THIRD + 1)}, revision 1 of screening-${third().sessionId}, is unreadable`,
    );
  });

  it('names both events when two were exchanged', async () => {
    await tamper(({ events }) => {
      const [one, other] = [events.get(key(THIRD))!, events.get(key(THIRD + 7))!];
      events.putSync(key(THIRD), other);
      events.putSync(key(THIRD + 7), one);
    });
    const positions = (await verify()).faults.map(({ position }) => Number(position));
    expect(positions).toEqual(expect.arrayContaining([THIRD, THIRD + 7]));
  });

  it('finds the lowered end of a stream, which hides the newest events of the stream', async () => {
    await tamper(({ heads }) => heads.putSync(Buffer.from(`screening-${third().sessionId}`), key(0)));
    expect(told((await verify()).faults)).toEqual([
      [THIRD + 1, 'screening', 1, 'the index of streams ends its stream at revision 0'],
      [THIRD + 2, 'screening', 2, 'the index of streams ends its stream at revision 0'],
    ]);
  });

  it('finds the raised end of a stream, a stream without an end, and an end without a stream', async () => {
    await tamper(({ heads }) => {
      heads.putSync(Buffer.from(`screening-${third().sessionId}`), key(9));
      heads.removeSync(Buffer.from(`person-${third().personId}`));
      heads.putSync(Buffer.from('screening-nobody'), key(0));
      heads.putSync(Buffer.from('screening-nobody-else'), key(0));
    });
    expect(told((await verify()).faults)).toEqual([
      ...[0, 1, 2].map((revision) => [
        THIRD + revision,
        'screening',
        revision,
        'the index of streams ends its stream at revision 9, which does not exist',
      ]),
      [THIRD + 3, 'person', 0, 'its stream is not in the index of streams'],
      [null, null, null, `the index of streams has ${3 * PEOPLE + 1} entries where ${3 * PEOPLE} belong`],
    ]);
  });

  it("finds a revision that points at another person's event; a read of this revision is an error and does not return the event", async () => {
    const name = `screening-${third().sessionId}`;
    await tamper(({ positions }) => positions.putSync(pair(name, key(2)), key(3)));
    expect(told((await verify()).faults)).toEqual([
      [THIRD + 2, 'screening', 2, `the index of revisions says position ${place(3)}`],
    ]);
    await expect(store.readStream(name)).rejects.toThrow(`Revision 2 of ${name} is another event in the log`);
  });

  it('finds a changed key byte in every index', async () => {
    await tamper(({ positions, ids }) => {
      for (const tree of [positions, ids]) {
        const { sessionId } = tree === positions ? third() : people[5]!;
        const [found] = [...tree.getKeys()].filter((each) => each.toString('latin1').startsWith(`report-${sessionId}`));
        const value = tree.get(found!)!;
        const changed = Buffer.from(found!);
        changed[changed.length - 1] = (changed.at(-1) as number) ^ 0x40;
        tree.removeSync(found!);
        tree.putSync(changed, value);
      }
    });
    expect((await verify()).faults.map(({ fault }) => fault)).toEqual(
      expect.arrayContaining(['not in the index of revisions', 'not in the index of event ids']),
    );
  });

  it('finds an extra entry in an index, and an id with another revision', async () => {
    await tamper(({ positions, ids }) => {
      positions.putSync(pair(`report-${third().sessionId}`, key(3)), key(1));
      const [first] = [...ids.getKeys()];
      ids.putSync(first!, key(7));
    });
    const { faults } = await verify();
    expect(faults.map(({ fault }) => fault)).toEqual([
      'the index of event ids says revision 7',
      `the index of revisions has ${7 * PEOPLE + 1} entries where ${7 * PEOPLE} belong`,
    ]);
  });

  describe('audit verify of the vault', () => {
    const fault = async (): Promise<unknown[]> => told((await verify()).faults);
    const released = THIRD + 5;

    it('finds a changed and a missing entry', async () => {
      const { subjectId, reportId, sessionId } = third();
      await tamperVault((entries) => {
        for (const [entry, change] of [
          [`report:${reportId}`, 'flip'],
          [`screening:${sessionId}`, 'remove'],
        ] as const) {
          const at = `${subjectId} ${entry}`;
          const value = Buffer.from(entries.get(at)!);
          if (change === 'remove') entries.removeSync(at);
          else entries.putSync(at, Buffer.concat([value.subarray(0, -1), Buffer.from([(value.at(-1) as number) ^ 1])]));
        }
      });
      expect(await fault()).toEqual([
        [THIRD + 2, 'screening', 2, `vault entry screening:${sessionId} of subject ${subjectId} is missing`],
        [released, 'report', 1, `vault entry report:${reportId} of subject ${subjectId} does not open`],
      ]);
    });

    it('finds an erasure that the log does not record, and accepts one that it records', async () => {
      const { personId, sessionId, subjectId } = third();
      await vault.erase(subjectId);
      expect(await fault()).toEqual([
        [
          THIRD + 2,
          'screening',
          2,
          `vault entry screening:${sessionId} of subject ${subjectId} is erased, and the log does not say so`,
        ],
        [released, 'report', 1, expect.stringContaining('is erased, and the log does not say so')],
      ]);
      await append(store, `person-${personId}`, ['SubjectKeyDestroyed', { subjectId }]);
      expect(await fault()).toEqual([]);
    });

    it('finds a person who is erased in the log and still in the vault, as after a restore', async () => {
      const { personId, subjectId } = third();
      await append(store, `person-${personId}`, ['SubjectKeyDestroyed', { subjectId }]);
      expect(await fault()).toEqual([
        [7 * PEOPLE + 1, 'person', 1, `vault subject ${subjectId} is not erased, though the log says so`],
      ]);
    });

    it('accepts a missing entry that the log allows, and an erasure whose record is being written', async () => {
      const { sessionId, subjectId, personId } = third();
      const another = newId();
      await append(
        store,
        `screening-${another}`,
        ['ScreeningSubmitted', { subjectId, personId }],
        ['StepUpRequired', {}],
      );
      expect(await fault()).toEqual([
        [7 * PEOPLE + 2, 'screening', 1, `vault entry screening:${another} of subject ${subjectId} is missing`],
      ]);
      await append(store, `screening-${another}`, ['SessionExpired', {}]);
      expect(await fault()).toEqual([]);
      await vault.erase(subjectId);
      const audit = new VaultAudit(store, vault, VAULT_KNOWLEDGE);
      const found = await audit.check(await store.readStream(`screening-${sessionId}`));
      await append(store, `person-${personId}`, ['SubjectKeyDestroyed', { subjectId }]);
      expect([found, await audit.finish()]).toEqual([[], []]);
    });
  });
});

describe('the audit of subjects', () => {
  let folder: string;
  let store: EmbeddedEventStore;
  let vault: DiskVault;
  let ledger: ErasureLedger;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'subjects-'));
    store = EmbeddedEventStore.open({ directory: join(folder, 'events') });
    vault = DiskVault.open({ directory: join(folder, 'vault'), keys: KEYS, clock: new SystemClock() });
    ledger = new ErasureLedger(join(folder, 'erasures.jsonl'));
    await ledger.begin({ begunAt: new Date().toISOString() });
    await session(newId());
  });
  afterEach(async () => {
    await store.close();
    await vault.close();
    rmSync(folder, { recursive: true });
  });

  const session = (subjectId: string): Promise<void> =>
    append(store, `screening-${newId()}`, ['ScreeningSubmitted', { subjectId, personId: newId() }]);

  function auditOf(givenUp: readonly GivenUp[] = [], isWhole = true): SubjectAudit {
    const entries = new VaultAudit(store, vault, VAULT_KNOWLEDGE);
    return new SubjectAudit({ entries, store, subjects: vault, ledger, givenUp, isWhole: () => isWhole });
  }

  async function faultsOf(audit: SubjectAudit): Promise<string[]> {
    const faults: LogFault[] = [];
    await verifyLog(store, { vault: audit, onFault: (fault) => faults.push(fault) });
    return faults.map(({ fault }) => fault);
  }

  it("finds a subject that only its person's event names, and reports nothing when only part of the log was read", async () => {
    const [subjectId, sessionId] = [newId(), newId()];
    await vault.seal(subjectId, 'a call', Buffer.from('applicant'));
    await append(store, `person-${newId()}`, ['ScreeningOpened', { sessionId, subjectId }]);
    expect(await faultsOf(auditOf())).toEqual([`no event names subject ${subjectId} of the vault`]);
    expect(await faultsOf(auditOf([], false))).toEqual([]);
    await session(subjectId);
    expect(await faultsOf(auditOf())).toEqual([]);
  });

  it.each([
    ['the address of a unit', () => `unit-address:${newId()}`],
    ['the details of a grant', () => newId()],
    ['the secret of an endpoint', () => `webhook-secret:${newId()}`],
    ['a stored token', () => `party/${newId()}/token`],
  ])(
    "accepts a subject that has only %s, because a process may have died before it stored the subject's event",
    async (_what, entry) => {
      const subjectId = newId();
      await vault.put(subjectId, entry(), Buffer.from('{}'));
      const audit = auditOf();
      expect([await faultsOf(audit), audit.unnamed]).toEqual([[], 1]);
      await vault.put(subjectId, `screening:${newId()}`, Buffer.from('{}'));
      await vault.put(subjectId, `report:${newId()}`, Buffer.from('{}'));
      expect(await faultsOf(auditOf())).toEqual([`no event names subject ${subjectId} of the vault`]);
    },
  );

  it('accepts a subject whose event was stored after the log was read', async () => {
    const subjectId = newId();
    const audit = auditOf();
    await audit.check(await store.readAll(null, 1_000));
    await session(subjectId);
    await vault.seal(subjectId, 'a call', Buffer.from('applicant'));
    expect(await audit.finish()).toEqual([]);
  });

  it('accepts only the subjects and ledger lines from the time of a loss that an operator accepted', async () => {
    const subjectId = newId();
    await vault.seal(subjectId, 'a call', Buffer.from('applicant'));
    const now = Date.now();
    const at = (hours: number): string => new Date(now + hours * 3_600_000).toISOString();
    await ledger.record('erased', new Date(now));
    const during = auditOf([{ from: at(-1), position: '', until: at(1) }]);
    expect([await faultsOf(during), during.unnamed]).toEqual([[], 2]);
    for (const [from, until] of [
      [-2, -1],
      [1, 2],
    ] as const)
      expect(await faultsOf(auditOf([{ from: at(from), position: '', until: at(until) }]))).toEqual([
        `no event names subject ${subjectId} of the vault`,
        `no event names subject erased, which the erasure ledger says was erased at ${at(0)}`,
      ]);
  });

  it('reports one fault for all subjects when the log is empty, or when unreadable events may name subjects', async () => {
    for (let subject = 0; subject < 3; subject++) await vault.seal(newId(), 'a call', Buffer.from('applicant'));
    const damaged = auditOf();
    damaged.isDamaged = true;
    expect(await faultsOf(damaged)).toEqual(['no event that can be read names 3 subjects of the vault or the ledger']);
    await store.close();
    rmSync(join(folder, 'events'), { recursive: true });
    store = EmbeddedEventStore.open({ directory: join(folder, 'events') });
    expect(await faultsOf(auditOf())).toEqual(['the log has no events, but the vault or the ledger has 3 subjects']);
  });

  it('reports an invalid line of the ledger', async () => {
    appendFileSync(ledger.file, '{"nothing":1}\n');
    expect(await faultsOf(auditOf())).toEqual([expect.stringContaining('is damaged at byte')]);
  });
});

function rewrite(events: Database<Bytes, Bytes>, position: number, change: (text: string) => string): void {
  const text = events.get(key(position))!.toString('utf8');
  const changed = change(text);
  expect(changed).not.toBe(text);
  events.putSync(key(position), Buffer.from(changed));
}

/** Appends events like the service: each event is chained to the event before it. */
async function append(
  store: EventStore,
  stream: string,
  ...events: readonly (readonly [type: string, data: JsonObject])[]
): Promise<void> {
  const before = await store.readStream(stream);
  let prev = before.at(-1)?.metadata.chain.hash ?? genesisOf(stream);
  const chained = events.map(([type, data], index) => {
    const metadata = {
      schemaVersion: 1,
      accountId: newId(),
      environment: 'test',
      occurredAt: '2026-03-01T12:00:00.000Z',
      $correlationId: newId(),
      $causationId: newId(),
      actor: { kind: 'system', id: 'test' },
    } as const;
    const content = { id: newId(), type, stream, revision: before.length + index, data, metadata };
    const chain = linkTo(prev, content);
    prev = chain.hash;
    return { id: content.id, type, data, metadata: { ...metadata, chain: { ...chain } } };
  });
  expect(await store.append(stream, before.length === 0 ? 'no-stream' : before.length - 1, chained)).toMatchObject({
    outcome: 'appended',
  });
}

function place(position: number): string {
  return String(position).padStart(20, '0');
}

function key(number: number): Bytes {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(number));
  return bytes;
}

function pair(stream: string, part: Bytes): Bytes {
  return Buffer.concat([Buffer.from(stream), part]);
}
