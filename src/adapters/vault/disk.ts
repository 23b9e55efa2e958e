// The vault on a local disk: values in LMDB, data keys in a file of their own. Several processes may have it open.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Database, open, type RootDatabase } from 'lmdb';
import type { Clock } from '../../kernel/clock.js';
import { Unavailable } from '../../kernel/unavailable.js';
import { SubjectErased, Vault } from '../../ports/vault.js';
import { Space, type SpaceUsage } from '../lmdb/space.js';
import { decrypt, encrypt } from './aead.js';
import { type DataKey, DataKeyFile } from './data-key-file.js';
import type { MasterKeys } from './master-keys.js';
import { checkedName, placeOf, valueContext } from './names.js';
import { DataKeyMissing, InstallationKeys } from './wrapped-keys.js';

export interface DiskVaultOptions {
  /** Made when it does not exist. On a local disk: locks and maps do not work over a network file system. */
  readonly directory: string;
  readonly keys: MasterKeys;
  readonly clock: Clock;
  /** What the values may grow to. The space is not taken in advance, and may be raised at any later start. */
  readonly mapSizeBytes?: number;
  /** Told when the values are about to run out of room, well before one is refused; once, until there is more room again. */
  readonly onNearlyFull?: (usage: SpaceUsage) => void;
}

/** What is known of a subject: where its key lies or lay, and when it was erased. The slot is the key's version in the authenticated data. */
type SubjectRecord = { readonly slot: number } | { readonly slot: number | null; readonly erasedAt: string };

interface Write {
  /** Runs inside the transaction, together with others; must not throw. */
  readonly apply: () => void;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

const DEFAULT_MAP_SIZE_BYTES = 64 * 2 ** 30;
/** One transaction takes no more than this, so that other processes get their turn. */
const MAX_GROUP = 256;
/** Data keys are made some at a time, ahead of their use, so that a new person costs no sync of the key file. */
const KEYS_AT_A_TIME = 128;
const CACHED_KEYS = 10_000;

/**
 * A value is durable when `put` answers: puts are gathered into transactions that are synced before they answer.
 *
 * Erasing writes the tombstone and removes the values first, then overwrites the data key in its file, and answers when
 * both are synced; what a crash left undone is done at the next start. Removed values stay in LMDB's free pages for a
 * while, as ciphertext whose key no longer exists anywhere. Every use asks the subject's record, which is shared memory,
 * so an erasure in another process counts at once although unwrapped keys are cached.
 */
export class DiskVault extends Vault {
  private readonly subjects: Database<SubjectRecord, string>;
  private readonly entries: Database<Buffer, string>;
  private readonly installation: Database<string, string>;
  /** Slots whose key must be overwritten: their subjects are erased already. */
  private readonly condemned: Database<boolean, number>;

  private readonly queue: Write[] = [];
  /** Settles when the queue is empty; null while nothing is being written. */
  private writing: Promise<void> | null = null;
  private closed = false;

  private readonly unwrapped = new Map<string, DataKey>();
  private readonly unused: DataKey[] = [];
  private makingKeys: Promise<void> | null = null;
  /** Keys given to subjects that no transaction has stored yet, so that their first puts agree on one. */
  private readonly given = new Map<string, Promise<DataKey>>();
  private readonly installationKeys: InstallationKeys;

  private constructor(
    private readonly root: RootDatabase<unknown, string>,
    private readonly space: Space,
    private readonly dataKeys: DataKeyFile,
    keys: MasterKeys,
    private readonly clock: Clock,
  ) {
    super();
    this.installationKeys = new InstallationKeys(keys, (name, make) => this.storedInstallationKey(name, make));
    this.subjects = root.openDB<SubjectRecord, string>({ name: 'subjects', encoding: 'json' });
    this.entries = root.openDB<Buffer, string>({ name: 'entries', encoding: 'binary' });
    this.installation = root.openDB<string, string>({ name: 'installation', encoding: 'string' });
    this.condemned = root.openDB<boolean, number>({ name: 'condemned', encoding: 'json' });
  }

  static open({ directory, keys, clock, mapSizeBytes = DEFAULT_MAP_SIZE_BYTES, onNearlyFull }: DiskVaultOptions): DiskVault {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const file = join(directory, 'values.mdb');
    const root = open<unknown, string>({
      path: file,
      noSubdir: true,
      mapSize: mapSizeBytes,
      maxDbs: 8,
      encoding: 'json',
      // Otherwise a value is visible before it is durable.
      overlappingSync: false,
      // We gather writes ourselves. With its own batching on, the library makes a promise that nobody holds, and a full
      // disk would end the process as an unhandled rejection.
      eventTurnBatching: false,
    });
    const vault = new DiskVault(root, new Space(root, file, mapSizeBytes, onNearlyFull), DataKeyFile.open(directory, keys), keys, clock);
    vault.finishErasures();
    return vault;
  }

  override async put(subject: string, entry: string, value: Uint8Array): Promise<void> {
    const place = placeOf(subject, entry);
    this.refuseIfFull(value.byteLength);
    for (;;) {
      const key = this.keyOf(subject, this.read(() => this.subjects.get(subject))) ?? (await this.giveKey(subject));
      const sealed = encrypt(key.bytes, valueContext(place, key.slot), value);
      const outcome = await this.write((): 'stored' | 'erased' | 'other-key' => {
        const record = this.subjects.get(subject);
        if (record === undefined) this.subjects.putSync(subject, { slot: key.slot });
        else if ('erasedAt' in record) return 'erased';
        else if (record.slot !== key.slot) return 'other-key';
        this.entries.putSync(place, sealed);
        return 'stored';
      }).finally(() => this.given.delete(subject));
      if (outcome === 'stored') return this.remember(subject, key);
      if (outcome === 'erased') throw new SubjectErased(`Subject ${subject} was erased.`);
      // Another process gave the subject a key first; ours was never used.
    }
  }

  override async get(subject: string, entry: string): Promise<Uint8Array | null> {
    const place = placeOf(subject, entry);
    const { record, sealed } = this.read(() => ({ record: this.subjects.get(subject), sealed: this.entries.get(place) }));
    const key = this.keyOf(subject, record);
    return key === null || sealed === undefined ? null : decrypt(key.bytes, valueContext(place, key.slot), sealed);
  }

  override async remove(subject: string, entry: string): Promise<void> {
    const place = placeOf(subject, entry);
    await this.write(() => void this.entries.removeSync(place));
  }

  override async erase(subject: string): Promise<void> {
    const first = `${checkedName(subject)} `;
    const condemned = await this.write(() => {
      const record = this.subjects.get(subject);
      const slot = record?.slot ?? null;
      if (record === undefined || !('erasedAt' in record)) {
        this.subjects.putSync(subject, { slot, erasedAt: this.clock.now().toISOString() });
        for (const place of [...this.entries.getKeys({ start: first, end: `${first}\x7f` })]) this.entries.removeSync(place);
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

  /** When the subject was erased; null when it was not. */
  erasedAt(subject: string): string | null {
    const record = this.read(() => this.subjects.get(subject));
    return record !== undefined && 'erasedAt' in record ? record.erasedAt : null;
  }

  /** Room used and available for values; the data keys lie in a file of their own, 128 bytes each. */
  usage(): SpaceUsage {
    return this.read(() => this.space.usage());
  }

  /** What was put is written; what comes now fails. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.makingKeys?.catch(() => undefined);
    await this.writing;
    await this.root.close();
    this.dataKeys.close();
  }

  /** Only what is new needs room: a full vault is read, removed from and erased in as before. */
  private refuseIfFull(bytes: number): void {
    const full = this.read(() => this.space.lacking(bytes));
    if (full !== null) throw new Unavailable(`The vault is full: ${full.usedBytes} of ${full.totalBytes} bytes used`);
  }

  /** Null when the subject has no data key yet. Throws for a subject that is erased. */
  private keyOf(subject: string, record: SubjectRecord | undefined): DataKey | null {
    if (record === undefined) return null;
    if ('erasedAt' in record) {
      this.unwrapped.delete(subject);
      throw new SubjectErased(`Subject ${subject} was erased.`);
    }
    const known = this.unwrapped.get(subject);
    const key = known?.slot === record.slot ? known : this.dataKeys.read(record.slot);
    if (key === null) {
      // Since the record was read another process may have erased the subject; if not, something is very wrong.
      if (this.erasedAt(subject) !== null) throw new SubjectErased(`Subject ${subject} was erased.`);
      throw new DataKeyMissing(record.slot);
    }
    this.remember(subject, key);
    return key;
  }

  /** The least recently used key leaves first. */
  private remember(subject: string, key: DataKey): void {
    this.unwrapped.delete(subject);
    this.unwrapped.set(subject, key);
    if (this.unwrapped.size <= CACHED_KEYS) return;
    for (const oldest of this.unwrapped.keys()) {
      this.unwrapped.delete(oldest);
      return;
    }
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
      if (this.unused.length < KEYS_AT_A_TIME / 4) this.makingKeys ??= this.makeKeys().finally(() => (this.makingKeys = null));
      if (key !== undefined) {
        this.makingKeys?.catch(() => undefined);
        return key;
      }
      await this.makingKeys;
    }
  }

  /** Slots are drawn in a transaction, so that two processes never write the same one; a crash merely wastes them. */
  private async makeKeys(): Promise<void> {
    const first = await this.write(() => {
      const next = (this.root.get('next-slot') as number | undefined) ?? 0;
      this.root.putSync('next-slot', next + KEYS_AT_A_TIME);
      return next;
    });
    this.unused.push(...(await this.dataKeys.make(first, KEYS_AT_A_TIME)));
  }

  /** What an erasure had still to do when its process died. */
  private finishErasures(): void {
    for (const slot of this.read(() => [...this.condemned.getKeys()])) {
      this.dataKeys.destroySync(slot);
      this.root.transactionSync(() => this.condemned.removeSync(slot));
    }
  }

  private async storedInstallationKey(name: string, make: () => string): Promise<string> {
    const stored = this.read(() => this.installation.get(name));
    if (stored !== undefined) return stored;
    const made = make();
    return this.write(() => {
      const first = this.installation.get(name);
      if (first === undefined) this.installation.putSync(name, made);
      return first ?? made;
    });
  }

  private read<Result>(section: () => Result): Result {
    if (this.closed) throw new Error('The vault is closed.');
    try {
      return section();
    } finally {
      // The next read sees what other processes have committed since.
      this.root.resetReadTxn();
    }
  }

  /** Runs in a transaction with whatever else waits; durable when it answers. */
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
        // As a child transaction: an exception in the plain kind commits what was written before it.
        await this.root.childTransaction(() => {
          for (const { apply } of group) apply();
        });
        for (const { done } of group) done();
      } catch (error) {
        // The library tells the reason in a second promise, which would be an unhandled rejection if nobody listened.
        const reason: unknown = error instanceof Error && 'commitError' in error ? await Promise.resolve(error.commitError).catch((cause: unknown) => cause) : error;
        for (const { failed } of group) failed(reason);
      }
    }
    this.writing = null;
  }
}
