// The vault on a local disk: values in LMDB, data keys in a file of their own. Several processes may open the vault.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Database, open, type RootDatabase } from 'lmdb';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.js';
import { Unavailable } from '../../kernel/unavailable.js';
import {
  NotAuthentic,
  type Rewrapped,
  SubjectErased,
  type SubjectOrigin,
  Vault,
  type VaultSubjects,
} from '../../ports/vault.js';
import { Space, type SpaceUsage } from '../lmdb/space.js';
import { decrypt, encrypt, freshBytes } from './aead.js';
import { type DataKey, DataKeyFile } from './data-key-file.js';
import type { LedgerMark } from './erasure-ledger.js';
import { type MasterKeys, MasterKeysMissing } from './master-keys.js';
import { checkedName, placeOf, sealContext, valueContext } from './names.js';
import {
  checkMarks,
  DataKeyMissing,
  InstallationKeys,
  markOf,
  rewrappedInstallationKey,
  wrappingKeyId,
} from './wrapped-keys.js';

export interface DiskVaultOptions {
  /**
   * The folder is created when it does not exist. The folder must be on a local disk, because locks and maps do not work over a network file system.
   */
  readonly directory: string;
  readonly keys: MasterKeys;
  readonly clock: Clock;
  /** The largest size of the values. The space is not reserved in advance, and the size may be raised at any later start. */
  readonly mapSizeBytes?: number;
  /** Called when the space for values is nearly used up, long before a value is refused. Called only once until there is more space again. */
  readonly onNearlyFull?: (usage: SpaceUsage) => void;
  /** Whether new values are refused so that the last free space of the disk stays for other needs. */
  readonly diskFull?: () => boolean;
}

/** A subject: the slot that holds or held its key, and its erasure. In authenticated data, the slot is the version of the key. */
type SubjectRecord = Partial<Pick<SubjectOrigin, 'madeAt' | 'madeFor'>> &
  ({ readonly slot: number } | { readonly slot: number | null; readonly erasedAt: string });

interface Write {
  /** Runs inside the transaction, together with other writes. The function must not throw. */
  readonly apply: () => void;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

const VALUES = 'values.mdb';
const DEFAULT_MAP_SIZE_BYTES = 64 * 2 ** 30;
/** The limit of one transaction, so that other processes get their turn. */
const MAX_GROUP = 256;
/** Data keys are made in groups before they are needed, so that a new person needs no sync of the key file. */
const KEYS_AT_A_TIME = 128;
/** The number of unwrapped data keys in memory. Each key takes about 400 bytes. */
const UNWRAPPED_KEYS = 10_000;
/** The number of slots of the key file that one transaction or one read processes. */
const SLOTS_AT_A_TIME = 512;
/** The number of subjects' records in memory while all records are read. */
const SUBJECTS_AT_A_TIME = 1_000;

/** The names of single values in the database. */
const NEXT_SLOT = 'next-slot';
const MARKS = 'master-keys';
const REWRAPPING = 'rewrapping';

/** Only the newest run of `rewrap` continues, and an earlier run ends with this error. */
class RewrapTakenOver extends Error {
  override readonly name = 'RewrapTakenOver';

  constructor() {
    super('Another run has begun to wrap all keys again; this one has stopped.');
  }
}

/**
 * A value is durable when `put` answers: puts are gathered into transactions, which are synced before the answers.
 *
 * An erasure first writes the tombstone and removes the values, then overwrites the data key in its file. The erasure answers when both are synced.
 * The next start finishes an erasure that a crash interrupted. Removed values stay in LMDB's free pages for a while, as ciphertext whose key no
 * longer exists. Every use reads the subject's record, which is in shared memory. An erasure in another process therefore has its effect at once,
 * even with cached keys.
 */
export class DiskVault extends Vault implements VaultSubjects {
  private readonly subjects: Database<SubjectRecord, string>;
  private readonly entries: Database<Buffer, string>;
  private readonly installation: Database<string, string>;
  /** Slots whose key must be overwritten, because their subjects are already erased. */
  private readonly condemned: Database<boolean, number>;

  private readonly queue: Write[] = [];
  /** Settles when the queue is empty; null while no write is running. */
  private writing: Promise<void> | null = null;
  private closed = false;

  private readonly unwrapped = new LRUCache<string, DataKey>({ max: UNWRAPPED_KEYS });
  private readonly unused: DataKey[] = [];
  private makingKeys: Promise<void> | null = null;
  /** The keys of subjects whose record is not stored yet, so that all first puts of a subject use the same key. */
  private readonly given = new Map<string, Promise<DataKey>>();
  private readonly installationKeys: InstallationKeys;

  private constructor(
    private readonly root: RootDatabase<unknown, string>,
    private readonly space: Space,
    private readonly diskFull: () => boolean,
    private readonly mapSizeBytes: number,
    private readonly dataKeys: DataKeyFile,
    private readonly keys: MasterKeys,
    private readonly clock: Clock,
  ) {
    super();
    this.installationKeys = new InstallationKeys(keys, (name, make) => this.storedInstallationKey(name, make));
    this.subjects = root.openDB<SubjectRecord, string>({ name: 'subjects', encoding: 'json' });
    this.entries = root.openDB<Buffer, string>({ name: 'entries', encoding: 'binary' });
    this.installation = root.openDB<string, string>({ name: 'installation', encoding: 'string' });
    this.condemned = root.openDB<boolean, number>({ name: 'condemned', encoding: 'json' });
  }

  static open({
    directory,
    keys,
    clock,
    mapSizeBytes = DEFAULT_MAP_SIZE_BYTES,
    onNearlyFull,
    diskFull = () => false,
  }: DiskVaultOptions): DiskVault {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const file = join(directory, VALUES);
    const root = open<unknown, string>({
      path: file,
      noSubdir: true,
      mapSize: mapSizeBytes,
      maxDbs: 8,
      encoding: 'json',
      // Without this setting, a value is visible before it is durable.
      overlappingSync: false,
      // The vault groups writes itself. On a full disk, a promise of the library's batching would end the process as an unhandled rejection.
      eventTurnBatching: false,
    });
    const vault = new DiskVault(
      root,
      new Space(root, file, mapSizeBytes, onNearlyFull),
      diskFull,
      mapSizeBytes,
      DataKeyFile.open(directory, keys),
      keys,
      clock,
    );
    vault.finishErasures();
    vault.knowMasterKeys();
    return vault;
  }

  override async put(subject: string, entry: string, value: Uint8Array): Promise<void> {
    const place = placeOf(subject, entry);
    this.refuseIfFull(value.byteLength);
    for (;;) {
      const key =
        this.keyOf(
          subject,
          this.read(() => this.subjects.get(subject)),
        ) ?? (await this.giveKey(subject));
      const sealed = encrypt(key.bytes, valueContext(place, key.slot), value);
      if (await this.withKey(subject, key, () => this.entries.putSync(place, sealed), entry)) return;
    }
  }

  override async seal(subject: string, context: string, value: Uint8Array): Promise<Uint8Array> {
    checkedName(subject);
    for (;;) {
      let key = this.keyOf(
        subject,
        this.read(() => this.subjects.get(subject)),
      );
      if (key === null) {
        this.refuseIfFull(0);
        const given = await this.giveKey(subject);
        // An erasure must find the key before a value is encrypted under it.
        if (await this.withKey(subject, given, () => undefined)) key = given;
      }
      if (key !== null) return encrypt(key.bytes, sealContext(subject, context, key.slot), value);
    }
  }

  override async open(subject: string, context: string, sealed: Uint8Array): Promise<Uint8Array> {
    checkedName(subject);
    const key = this.keyOf(
      subject,
      this.read(() => this.subjects.get(subject)),
    );
    if (key === null) throw new NotAuthentic('Nothing was ever sealed for this subject.');
    return decrypt(key.bytes, sealContext(subject, context, key.slot), sealed);
  }

  override async get(subject: string, entry: string): Promise<Uint8Array | null> {
    const place = placeOf(subject, entry);
    const { record, sealed } = this.read(() => ({
      record: this.subjects.get(subject),
      sealed: this.entries.get(place),
    }));
    const key = this.keyOf(subject, record);
    return key === null || sealed === undefined ? null : decrypt(key.bytes, valueContext(place, key.slot), sealed);
  }

  override async remove(subject: string, entry: string): Promise<void> {
    const place = placeOf(subject, entry);
    await this.write(() => void this.entries.removeSync(place));
  }

  override async erase(subject: string): Promise<void> {
    checkedName(subject);
    const condemned = await this.write(() => {
      const record = this.subjects.get(subject);
      const slot = record?.slot ?? null;
      if (record === undefined || !('erasedAt' in record)) {
        this.subjects.putSync(subject, { ...record, slot, erasedAt: this.clock.now().toISOString() });
        for (const place of this.placesOf(subject)) this.entries.removeSync(place);
        if (slot !== null) this.condemned.putSync(slot, true);
      }
      return slot !== null && this.condemned.doesExist(slot) ? slot : null;
    });
    this.unwrapped.delete(subject);
    if (condemned === null) return;
    await this.dataKeys.destroy(condemned);
    await this.write(() => void this.condemned.removeSync(condemned));
  }

  override installationKey(name: string): Promise<Uint8Array> {
    return this.installationKeys.get(name);
  }

  override async masterKeyIds(): Promise<ReadonlySet<string>> {
    return new Set(Object.keys(this.read(() => this.marks())));
  }

  override async checkMasterKeys(): Promise<void> {
    checkMarks(this.keys, new Map(Object.entries(this.read(() => this.marks()))));
  }

  override async ping(): Promise<void> {
    this.read(() => this.root.get(MARKS));
    this.dataKeys.keyIds(0, 1);
  }

  /**
   * Slots are made and wrapped again only in transactions, and all processes share one transaction at a time. No slot is therefore made without being
   * seen during a run. No slot is destroyed while it is wrapped, because its erasure begins with a transaction that marks the slot.
   */
  override async rewrap(): Promise<Rewrapped> {
    const run = freshBytes(16).toString('base64url');
    const slots = await this.wrapping(null, () => {
      this.root.putSync(REWRAPPING, run);
      return this.slotCount();
    });
    let rewrapped = 0;
    for (let first = 0; first < slots; first += SLOTS_AT_A_TIME)
      rewrapped += await this.wrapping(run, () => this.rewrapSlots(first, SLOTS_AT_A_TIME));
    rewrapped += await this.wrapping(run, () => this.rewrapInstallationKeys());
    await this.dataKeys.sync();
    let dataKeys = 0;
    for (let first = 0; first < slots; first += SLOTS_AT_A_TIME) {
      dataKeys += this.openedDataKeys(first, SLOTS_AT_A_TIME);
      await nextTurn();
    }
    return this.wrapping(run, () => {
      // Slots that were made in the meantime, perhaps by a process with another master key at the front.
      const since = this.slotCount() - slots;
      if (since > 0) {
        rewrapped += this.rewrapSlots(slots, since);
        this.dataKeys.syncNow();
        dataKeys += this.openedDataKeys(slots, since);
      }
      rewrapped += this.rewrapInstallationKeys();
      const installationKeys = this.openedInstallationKeys();
      this.root.putSync(MARKS, { [this.keys.currentId]: markOf(this.keys) });
      return { masterKeyId: this.keys.currentId, rewrapped, dataKeys, installationKeys };
    });
  }

  async *subjectNames(): AsyncGenerator<string[]> {
    for (let page = this.subjectsAfter(''); page.length > 0; page = this.subjectsAfter(page.at(-1)?.key ?? ''))
      yield page.map(({ key }) => key);
  }

  async originOf(subject: string): Promise<SubjectOrigin> {
    const { madeAt = null, madeFor = null } = this.read(() => this.subjects.get(subject)) ?? {};
    const places = this.read(() => this.placesOf(subject));
    return { madeAt, madeFor, entries: places.map((place) => place.slice(subject.length + 1)) };
  }

  /** The time of the subject's erasure; null if none exists. */
  erasedAt(subject: string): string | null {
    const record = this.read(() => this.subjects.get(subject));
    return record !== undefined && 'erasedAt' in record ? record.erasedAt : null;
  }

  async ledgerMark(): Promise<LedgerMark | null> {
    return (this.read(() => this.root.get('ledger-mark')) as LedgerMark | undefined) ?? null;
  }

  async setLedgerMark(mark: LedgerMark): Promise<void> {
    await this.write(() => void this.root.putSync('ledger-mark', mark));
  }

  /** Accepts the next ledger as the right ledger. */
  async forgetLedger(): Promise<void> {
    await this.write(() => void this.root.removeSync('ledger-mark'));
  }

  /**
   * Copies the vault into a folder without a vault, while processes use it. The keys are copied after the values, so each copied subject has its key.
   * Subjects that are erased in between have no key, and are erased in the copy too.
   */
  async copyTo(directory: string): Promise<void> {
    // The copy is compacted, so that free pages with removed values are not copied.
    await this.root.backup(join(directory, VALUES), true);
    await this.dataKeys.copyTo(directory);
    const copy = DiskVault.open({ directory, keys: this.keys, clock: this.clock, mapSizeBytes: this.mapSizeBytes });
    try {
      for (let page = copy.subjectsAfter(''); page.length > 0; page = copy.subjectsAfter(page.at(-1)?.key ?? '')) {
        for (const { key: subject, value: record } of page) {
          if ('erasedAt' in record || copy.dataKeys.opens(record.slot)) continue;
          if (this.erasedAt(subject) === null) throw new DataKeyMissing(record.slot);
          await copy.erase(subject);
        }
      }
      // The keys may have been wrapped again between the two copies.
      copy.root.transactionSync(() => copy.root.removeSync(MARKS));
      copy.knowMasterKeys();
    } finally {
      await copy.close();
    }
  }

  /** The used and available space for values. The data keys are in a file of their own, 128 bytes each. */
  usage(): SpaceUsage {
    return this.read(() => this.space.usage());
  }

  /** Pending puts are written. New puts fail. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.makingKeys?.catch(() => undefined);
    await this.writing;
    await this.root.close();
    this.dataKeys.close();
  }

  private subjectsAfter(subject: string): { readonly key: string; readonly value: SubjectRecord }[] {
    const after = { start: subject, exclusiveStart: true, limit: SUBJECTS_AT_A_TIME };
    return this.read(() => [...this.subjects.getRange(after)]);
  }

  /** The names of all entries of the subject. */
  private placesOf(subject: string): string[] {
    return [...this.entries.getKeys({ start: `${subject} `, end: `${subject} \x7f` })];
  }

  /** Only new values need space. Reads, removals and erasures also work in a full vault. */
  private refuseIfFull(bytes: number): void {
    if (this.diskFull()) throw new Unavailable('The disk is full');
    const full = this.read(() => this.space.lacking(bytes));
    if (full !== null) throw new Unavailable(`The vault is full: ${full.usedBytes} of ${full.totalBytes} bytes used`);
  }

  /** Null if the subject has no data key yet. Throws for an erased subject. */
  private keyOf(subject: string, record: SubjectRecord | undefined): DataKey | null {
    if (record === undefined) return null;
    if ('erasedAt' in record) {
      this.unwrapped.delete(subject);
      throw new SubjectErased(`Subject ${subject} was erased.`);
    }
    const known = this.unwrapped.get(subject);
    if (known?.slot === record.slot) return known;
    const key = this.dataKeys.read(record.slot);
    if (key === null) {
      // Another process may have erased the subject since the record was read. If not, the vault is damaged.
      if (this.erasedAt(subject) !== null) throw new SubjectErased(`Subject ${subject} was erased.`);
      throw new DataKeyMissing(record.slot);
    }
    this.remember(subject, key);
    return key;
  }

  /** Copies the key, because its bytes are part of a larger block, which would otherwise stay in memory. */
  private remember(subject: string, { slot, bytes }: DataKey): void {
    this.unwrapped.set(subject, { slot, bytes: Uint8Array.from(bytes) });
  }

  /** Writes with the subject's key, which may be new. False if another process gave the subject a key first. The key here was then never used. */
  private async withKey(
    subject: string,
    key: DataKey,
    section: () => unknown,
    madeFor: string | null = null,
  ): Promise<boolean> {
    const outcome = await this.write((): 'done' | 'erased' | 'other-key' => {
      const record = this.subjects.get(subject);
      if (record === undefined)
        this.subjects.putSync(subject, { slot: key.slot, madeAt: this.clock.now().toISOString(), madeFor });
      else if ('erasedAt' in record) return 'erased';
      else if (record.slot !== key.slot) return 'other-key';
      section();
      return 'done';
    }).finally(() => this.given.delete(subject));
    if (outcome === 'erased') throw new SubjectErased(`Subject ${subject} was erased.`);
    if (outcome === 'done') this.remember(subject, key);
    return outcome === 'done';
  }

  private giveKey(subject: string): Promise<DataKey> {
    let key = this.given.get(subject);
    if (key === undefined) {
      key = this.unusedKey();
      this.given.set(subject, key);
      key.catch(() => this.given.delete(subject));
    }
    return key;
  }

  private async unusedKey(): Promise<DataKey> {
    for (;;) {
      const key = this.unused.pop();
      if (this.unused.length < KEYS_AT_A_TIME / 4)
        this.makingKeys ??= this.makeKeys().finally(() => (this.makingKeys = null));
      if (key !== undefined) {
        this.makingKeys?.catch(() => undefined);
        return key;
      }
      await this.makingKeys;
    }
  }

  /** Slots are assigned in a transaction, so that two processes never write the same slot. A crash only wastes slots. */
  private async makeKeys(): Promise<void> {
    try {
      const made = await this.wrapping(null, () => {
        const first = this.slotCount();
        this.root.putSync(NEXT_SLOT, first + KEYS_AT_A_TIME);
        return this.dataKeys.make(first, KEYS_AT_A_TIME);
      });
      await this.dataKeys.sync();
      this.unused.push(...made);
    } catch (cause) {
      // The disk is full or broken.
      throw cause instanceof Error && 'syscall' in cause
        ? new Unavailable('No data keys can be written', { cause })
        : cause;
    }
  }

  /** Finishes the erasures of a process that died. */
  private finishErasures(): void {
    for (const slot of this.read(() => [...this.condemned.getKeys()])) {
      this.dataKeys.destroyNow(slot);
      this.root.transactionSync(() => this.condemned.removeSync(slot));
    }
  }

  private async storedInstallationKey(name: string, make: () => string): Promise<string> {
    const stored = this.read(() => this.installation.get(name));
    if (stored !== undefined) return stored;
    const made = make();
    return this.wrapping(null, () => {
      const first = this.installation.get(name);
      if (first === undefined) this.installation.putSync(name, made);
      return first ?? made;
    });
  }

  /** The number of slots that were ever assigned. */
  private slotCount(): number {
    return (this.root.get(NEXT_SLOT) as number | undefined) ?? 0;
  }

  private marks(): Readonly<Record<string, string>> {
    return (this.root.get(MARKS) as Record<string, string> | undefined) ?? {};
  }

  /** A vault from a version without marks is searched once for the keys that it needs. */
  private knowMasterKeys(): void {
    if (this.read(() => this.root.get(MARKS)) !== undefined) return;
    const marks: Record<string, string> = {};
    const slots = this.read(() => this.slotCount());
    for (let first = 0; first < slots; first += SLOTS_AT_A_TIME) {
      for (const { slot, keyId } of this.dataKeys.keyIds(first, SLOTS_AT_A_TIME))
        marks[keyId] ??= this.provenBy(keyId, () => void this.dataKeys.read(slot));
    }
    for (const { key: name, value } of this.read(() => [...this.installation.getRange()])) {
      marks[wrappingKeyId(value)] ??= this.provenBy(
        wrappingKeyId(value),
        () => void rewrappedInstallationKey(this.keys, name, value),
      );
    }
    this.root.transactionSync(() => this.root.putSync(MARKS, { ...marks, ...this.marks() }));
  }

  /** A mark that the master key of the found key can open, or an empty mark without that master key. */
  private provenBy(keyId: string, open: () => void): string {
    if (!this.keys.has(keyId)) return '';
    try {
      open();
    } catch (error) {
      throw error instanceof NotAuthentic ? new MasterKeysMissing([], [keyId]) : error;
    }
    return markOf(this.keys, keyId);
  }

  /** A transaction that wraps keys under the current master key, or a step of a run of `rewrap`. */
  private async wrapping<Result>(run: string | null, section: () => Result): Promise<Result> {
    const outcome = await this.write((): { readonly result: Result } | { readonly error: unknown } => {
      try {
        if (run !== null && this.root.get(REWRAPPING) !== run) throw new RewrapTakenOver();
        const marks = this.marks();
        if (marks[this.keys.currentId] === undefined)
          this.root.putSync(MARKS, { ...marks, [this.keys.currentId]: markOf(this.keys) });
        return { result: section() };
      } catch (error) {
        // The other writes of the same transaction continue.
        return { error };
      }
    });
    if ('error' in outcome) throw outcome.error;
    return outcome.result;
  }

  /** The number of these slots that another master key had wrapped. This function may be called only within a transaction. */
  private rewrapSlots(first: number, count: number): number {
    const others = this.dataKeys.keyIds(first, count).filter(({ keyId }) => keyId !== this.keys.currentId);
    for (const { slot } of others) {
      // The erasure of this slot has not ended, or its process died.
      if (this.condemned.doesExist(slot)) this.dataKeys.clear(slot);
      else this.dataKeys.rewrap(slot);
    }
    return others.length;
  }

  private rewrapInstallationKeys(): number {
    const others = [...this.installation.getRange()].filter(
      ({ value }) => wrappingKeyId(value) !== this.keys.currentId,
    );
    for (const { key: name, value } of others)
      this.installation.putSync(name, rewrappedInstallationKey(this.keys, name, value));
    return others.length;
  }

  /** The number of data keys in these slots. Each of these keys can be opened with the current master key. */
  private openedDataKeys(first: number, count: number): number {
    const isOther = ({ keyId }: { readonly keyId: string }): boolean => keyId !== this.keys.currentId;
    const found = this.dataKeys.keyIds(first, count);
    // Checked twice, because a read during another process's write may return half of a key.
    const left = found
      .filter(isOther)
      .flatMap(({ slot }) => this.dataKeys.keyIds(slot, 1))
      .find(isOther);
    if (left) throw new Error(`Data key ${left.slot} is still wrapped under the master key '${left.keyId}'.`);
    return found.filter(({ slot }) => this.dataKeys.read(slot) !== null).length;
  }

  private openedInstallationKeys(): number {
    const stored = [...this.installation.getRange()];
    for (const { key: name, value } of stored) rewrappedInstallationKey(this.keys, name, value);
    return stored.length;
  }

  private read<Result>(section: () => Result): Result {
    if (this.closed) throw new Error('The vault is closed.');
    try {
      return section();
    } finally {
      // The next read sees the data that other processes have committed since.
      this.root.resetReadTxn();
    }
  }

  /** Runs in a transaction with other waiting writes, and is durable when it returns. */
  private write<Result>(section: () => Result): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      if (this.closed && this.writing === null) throw new Error('The vault is closed.');
      let result: Result;
      this.queue.push({ apply: () => (result = section()), done: () => resolve(result), failed: reject });
      this.writing ??= this.writeQueued();
    });
  }

  private async writeQueued(): Promise<void> {
    await nextTurn();
    while (this.queue.length > 0) {
      const group = this.queue.splice(0, MAX_GROUP);
      try {
        // A child transaction. An exception in an ordinary transaction would commit the earlier writes.
        await this.root.childTransaction(() => {
          for (const { apply } of group) apply();
        });
        for (const { done } of group) done();
      } catch (error) {
        // The library gives the reason in a second promise. Without a listener, this promise would be an unhandled rejection.
        const reason: unknown =
          error instanceof Error && 'commitError' in error
            ? await Promise.resolve(error.commitError).catch((cause: unknown) => cause)
            : error;
        for (const { failed } of group) failed(new Unavailable('The vault cannot be written', { cause: reason }));
      }
    }
    this.writing = null;
  }
}
