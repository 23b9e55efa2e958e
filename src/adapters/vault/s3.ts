// The vault in an S3 bucket, for services on several machines. Any number of processes may use it at once.
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../kernel/clock.js';
import {
  NotAuthentic,
  type Rewrapped,
  SubjectErased,
  type SubjectOrigin,
  Vault,
  VaultMisconfigured,
  type VaultSubjects,
} from '../../ports/vault.js';
import { decrypt, encrypt, freshBytes } from './aead.js';
import type { LedgerMark } from './erasure-ledger.js';
import { KEY_BYTES, type MasterKeys } from './master-keys.js';
import { checkedName, placeOf, sealContext, valueContext } from './names.js';
import { S3Bucket, type S3Exchange } from './s3-bucket.js';
import {
  checkMarks,
  DataKeyMissing,
  InstallationKeys,
  markOf,
  rewrappedInstallationKey,
  unwrapKey,
  wrapKey,
  wrappingKeyId,
} from './wrapped-keys.js';

export interface S3VaultOptions {
  readonly bucket: string;
  readonly region: string;
  /** The address of a server other than AWS; null for AWS itself. */
  readonly endpoint: string | null;
  /** The prefix of every key, so that a bucket may contain more than one vault. */
  readonly prefix: string;
  readonly keys: MasterKeys;
  readonly clock: Clock;
  /** The limit of one whole call in milliseconds. The default is 5 seconds. */
  readonly limitMs?: number;
}

/** The server treats a conditional put as an ordinary put. A key that is erased during a rewrap would be restored. */
export class NoConditionalPuts extends Error {
  override readonly name = 'NoConditionalPuts';

  constructor() {
    super('Keys cannot be wrapped again in this bucket: its server does not honour If-Match.');
  }
}

/** A stored `key` object: the subject's wrapped key or, under the same name, the evidence that the key was destroyed. */
type KeyRecord =
  /** `subject` is set when the object's name does not contain it. */
  | ({ readonly version: string; readonly key: string; readonly subject?: string } & Partial<
      Pick<SubjectOrigin, 'madeAt' | 'madeFor'>
    >)
  | { readonly erasedAt: string };

interface DataKey {
  /** A random value that distinguishes this key from any other key of the subject. */
  readonly version: string;
  readonly bytes: Uint8Array;
}

const LIMIT_MS = 5_000;
const PURPOSE = 'vault-data-keys';
const REMOVED_AT_A_TIME = 100;
const LISTED_AT_A_TIME = 1_000;
const WRAPPED_AT_A_TIME = 32;
const PLAIN_SEGMENT = /^[A-Za-z0-9_-]{1,100}$/;

/**
 * Objects: `<prefix>/subjects/<subject>/key`, `<prefix>/subjects/<subject>/values/<entry>`, `<prefix>/installation-keys/<name>`,
 * `<prefix>/ledger-mark` and `<prefix>/master-keys/<id>`. The last is a mark of each master key that may have wrapped a key, made before the first
 * use of that key.
 *
 * Objects that processes must agree on are made with `If-None-Match: *`, so the first put succeeds. A key and its tombstone are the same object. An
 * erasure overwrites the key, and a key can never replace a tombstone. No data of a subject is cached. Each use reads the `key` object, and S3
 * returns the last write, so an erasure in another process has its effect at once. A put checks again after its write, and removes its value if the
 * subject was erased in the meantime. A process that dies in between leaves a ciphertext whose key no longer exists. The next erasure of the subject
 * removes this ciphertext.
 */
export class S3Vault extends Vault implements VaultSubjects {
  private readonly bucket: S3Bucket;
  private readonly prefix: string;
  private readonly limitMs: number;
  private readonly keys: MasterKeys;
  private readonly clock: Clock;
  private readonly installationKeys: InstallationKeys;
  /** Running erasures in this process. Later puts wait for them, so that these puts are certainly refused. */
  private readonly erasing = new Map<string, Promise<void>>();
  private knownToKeepNoVersions = false;

  private constructor({ prefix, keys, clock, limitMs = LIMIT_MS, ...where }: S3VaultOptions) {
    super();
    this.bucket = new S3Bucket({ ...where, settings: 'VAULT_S3', limitMs });
    this.prefix = prefix;
    this.limitMs = limitMs;
    this.keys = keys;
    this.clock = clock;
    this.installationKeys = new InstallationKeys(keys, (name, make) => this.storedInstallationKey(name, make));
  }

  /** Opens the vault without a request to S3. */
  static open(options: S3VaultOptions): S3Vault {
    return new S3Vault(options);
  }

  override async put(subject: string, entry: string, value: Uint8Array): Promise<void> {
    const place = placeOf(subject, entry);
    await this.bucket.within(async (exchange) => {
      await this.erasing.get(subject);
      const key = (await this.keyOf(exchange, subject)) ?? (await this.makeKey(exchange, subject, entry));
      await exchange.put(this.valueAt(subject, entry), encrypt(key.bytes, valueContext(place, key.version), value));
      await this.holdAgainstErasure(exchange, subject, entry);
    });
  }

  override async get(subject: string, entry: string): Promise<Uint8Array | null> {
    const place = placeOf(subject, entry);
    return this.bucket.within(async (exchange) => {
      const [record, sealed] = await Promise.all([
        this.record(exchange, subject),
        exchange.get(this.valueAt(subject, entry)),
      ]);
      if (record === null && sealed === null) return null;
      // A first put may have happened between the two answers, but a value never exists before its key.
      const key = record === null ? await this.keyOf(exchange, subject) : this.opened(subject, record);
      if (key === null) throw new DataKeyMissing(subject);
      return sealed === null ? null : decrypt(key.bytes, valueContext(place, key.version), sealed);
    });
  }

  override async seal(subject: string, context: string, value: Uint8Array): Promise<Uint8Array> {
    checkedName(subject);
    return this.bucket.within(async (exchange) => {
      await this.erasing.get(subject);
      const key = (await this.keyOf(exchange, subject)) ?? (await this.makeKey(exchange, subject, null));
      return encrypt(key.bytes, sealContext(subject, context, key.version), value);
    });
  }

  override async open(subject: string, context: string, sealed: Uint8Array): Promise<Uint8Array> {
    checkedName(subject);
    const key = await this.bucket.within((exchange) => this.keyOf(exchange, subject));
    if (key === null) throw new NotAuthentic('Nothing was ever sealed for this subject.');
    return decrypt(key.bytes, sealContext(subject, context, key.version), sealed);
  }

  override async remove(subject: string, entry: string): Promise<void> {
    placeOf(subject, entry);
    await this.bucket.within((exchange) => exchange.remove(this.valueAt(subject, entry)));
  }

  override async erase(subject: string): Promise<void> {
    checkedName(subject);
    const erasure = this.bucket.within((exchange) => this.eraseNow(exchange, subject));
    const settled = erasure.catch(() => undefined);
    this.erasing.set(subject, settled);
    try {
      await erasure;
    } finally {
      if (this.erasing.get(subject) === settled) this.erasing.delete(subject);
    }
  }

  override installationKey(name: string): Promise<Uint8Array> {
    return this.installationKeys.get(name);
  }

  /** The master keys with a mark, and those of the installation's keys, which matter when a version without marks made the bucket's data. */
  override async masterKeyIds(): Promise<ReadonlySet<string>> {
    return new Set((await this.marks()).keys());
  }

  override async checkMasterKeys(): Promise<void> {
    await this.bucket.within((exchange) => this.refuseVersions(exchange));
    checkMarks(this.keys, await this.marks());
  }

  override async ping(): Promise<void> {
    await this.bucket.within((exchange) => exchange.get(this.markAt(this.keys.currentId)));
  }

  /**
   * A key object is replaced only in the version that was read, so a tombstone that was made in the meantime stays. The marks of other master keys
   * are removed in between. A process that still wraps keys under another master key makes its mark again first. When the limit of one call has
   * passed, the earlier writes of that process are done or given up. Then all keys are checked again.
   */
  override async rewrap(): Promise<Rewrapped> {
    await this.bucket.within(async (exchange) => {
      await this.refuseVersions(exchange);
      await this.refuseUnconditional(exchange);
      await this.mark(exchange);
    });
    const first = await this.rewrapAll();
    for (const id of (await this.marks()).keys())
      if (id !== this.keys.currentId) await this.bucket.within((exchange) => exchange.remove(this.markAt(id)));
    await pause(this.limitMs);
    const { rewrapped, ...opened } = await this.rewrapAll();
    return { masterKeyId: this.keys.currentId, rewrapped: first.rewrapped + rewrapped, ...opened };
  }

  /** Only subjects with plain names, such as ids. In the object's name, other names are replaced by a hash. */
  async *subjectNames(): AsyncGenerator<string[]> {
    for await (const found of this.keyObjects())
      yield found.map((at) => at.split('/').at(-2) ?? '').filter((name) => PLAIN_SEGMENT.test(name));
  }

  async originOf(subject: string): Promise<SubjectOrigin> {
    const values = this.valueAt(subject);
    const [record, found] = await this.bucket.within((exchange) =>
      Promise.all([this.record(exchange, subject), exchange.list(values, LISTED_AT_A_TIME)]),
    );
    const { madeAt = null, madeFor = null } = record === null || 'erasedAt' in record ? {} : record;
    return { madeAt, madeFor, entries: found.map((at) => at.slice(values.length)) };
  }

  /** The time of the subject's erasure; null if none exists. */
  async erasedAt(subject: string): Promise<string | null> {
    checkedName(subject);
    const record = await this.bucket.within((exchange) => this.record(exchange, subject));
    return record !== null && 'erasedAt' in record ? record.erasedAt : null;
  }

  async ledgerMark(): Promise<LedgerMark | null> {
    const stored = await this.bucket.within((exchange) => exchange.get(this.ledgerMarkAt()));
    return stored === null ? null : (JSON.parse(stored.toString()) as LedgerMark);
  }

  async setLedgerMark(mark: LedgerMark): Promise<void> {
    await this.bucket.within((exchange) => exchange.put(this.ledgerMarkAt(), Buffer.from(JSON.stringify(mark))));
  }

  /** Running calls end first, each within its limit. New calls fail. */
  async close(): Promise<void> {
    await this.bucket.close();
  }

  /** The tombstone is written first, so that no value can be decrypted, even if later steps fail. A repeated erasure removes the remaining values. */
  private async eraseNow(exchange: S3Exchange, subject: string): Promise<void> {
    await this.refuseVersions(exchange);
    const record = await this.record(exchange, subject);
    if (record === null || !('erasedAt' in record)) {
      await exchange.put(this.keyAt(subject), json({ erasedAt: this.clock.now().toISOString() }));
    }
    for (;;) {
      const left = await exchange.list(this.valueAt(subject), REMOVED_AT_A_TIME);
      if (left.length === 0) return;
      await Promise.all(left.map((key) => exchange.remove(key)));
    }
  }

  /** Throws SubjectErased, and removes the value again, when the subject was erased during the write. */
  private async holdAgainstErasure(exchange: S3Exchange, subject: string, entry: string): Promise<void> {
    const record = await this.record(exchange, subject);
    if (record === null) throw new DataKeyMissing(subject);
    if (!('erasedAt' in record)) return;
    await exchange.remove(this.valueAt(subject, entry));
    throw erased(subject);
  }

  /** The first process to make the key succeeds, and the others use this key. */
  private async makeKey(exchange: S3Exchange, subject: string, madeFor: string | null): Promise<DataKey> {
    if (!this.knownToKeepNoVersions) await this.refuseVersions(exchange);
    for (;;) {
      const [hasValues] = await Promise.all([
        exchange.list(this.valueAt(subject), 1).then(({ length }) => length > 0),
        this.mark(exchange),
      ]);
      const bytes = freshBytes(KEY_BYTES);
      const version = freshBytes(12).toString('base64url');
      const record: KeyRecord = {
        version,
        key: wrapKey(this.keys, PURPOSE, keyContext(subject, version), bytes),
        ...(!PLAIN_SEGMENT.test(subject) && { subject }),
        madeAt: this.clock.now().toISOString(),
        madeFor,
      };
      if (!hasValues && (await exchange.create(this.keyAt(subject), json(record)))) return { version, bytes };
      const key = await this.keyOf(exchange, subject);
      if (key !== null) return key;
      // A value never exists before its key.
      if (hasValues) throw new DataKeyMissing(subject);
    }
  }

  /** Null if the subject has no data key yet. Throws for an erased subject. */
  private async keyOf(exchange: S3Exchange, subject: string): Promise<DataKey | null> {
    const record = await this.record(exchange, subject);
    return record === null ? null : this.opened(subject, record);
  }

  private opened(subject: string, record: KeyRecord): DataKey {
    if ('erasedAt' in record) throw erased(subject);
    return {
      version: record.version,
      bytes: unwrapKey(this.keys, PURPOSE, keyContext(subject, record.version), record.key),
    };
  }

  private async record(exchange: S3Exchange, subject: string): Promise<KeyRecord | null> {
    const stored = await exchange.get(this.keyAt(subject));
    if (stored === null) return null;
    const record = keyRecordIn(stored);
    if (record === null) throw new Error(`The key object of subject ${subject} is neither a key nor a tombstone.`);
    return record;
  }

  private storedInstallationKey(name: string, make: () => string): Promise<string> {
    const at = `${this.prefix}/installation-keys/${segment(name)}`;
    return this.bucket.within(async (exchange) => {
      for (;;) {
        const stored = await exchange.get(at);
        if (stored !== null) return stored.toString();
        await this.mark(exchange);
        const made = make();
        if (await exchange.create(at, Buffer.from(made))) return made;
      }
    });
  }

  private async marks(): Promise<Map<string, string>> {
    return this.bucket.within(async (exchange) => {
      const [marked, installationKeys] = await Promise.all([
        this.allIn(exchange, 'master-keys'),
        this.allIn(exchange, 'installation-keys'),
      ]);
      return new Map([
        ...installationKeys.map(({ text }) => [wrappingKeyId(text), ''] as const),
        ...marked.map(({ text }) => [wrappingKeyId(text), text] as const),
      ]);
    });
  }

  /** Written each time, because `rewrap` may have removed the mark. */
  private async mark(exchange: S3Exchange): Promise<void> {
    await exchange.create(this.markAt(this.keys.currentId), Buffer.from(markOf(this.keys)));
  }

  /** All objects of a folder that never has many. */
  private async allIn(
    exchange: S3Exchange,
    folder: 'master-keys' | 'installation-keys',
  ): Promise<{ readonly key: string; readonly text: string }[]> {
    const keys = await exchange.list(`${this.prefix}/${folder}/`, LISTED_AT_A_TIME);
    const found = await Promise.all(
      keys.map(async (key) => ({ key, text: (await exchange.get(key))?.toString() ?? null })),
    );
    return found.flatMap(({ key, text }) => (text === null ? [] : [{ key, text }]));
  }

  private async refuseUnconditional(exchange: S3Exchange): Promise<void> {
    const probe = `${this.prefix}/conditional-put`;
    await exchange.put(probe, Buffer.from('probe'));
    if (await exchange.replace(probe, '"0"', Buffer.from('replaced'))) throw new NoConditionalPuts();
    await exchange.remove(probe);
  }

  /** Checks every key, wraps keys that need another master key again, and opens each key. */
  private async rewrapAll(): Promise<Omit<Rewrapped, 'masterKeyId'>> {
    const installation = await this.bucket.within((exchange) => this.allIn(exchange, 'installation-keys'));
    const counts = { rewrapped: 0, dataKeys: 0, installationKeys: installation.length };
    for (const { key } of installation) if (await this.rewrapInstallationKey(key)) counts.rewrapped++;
    for await (const found of this.keyObjects()) {
      for (let first = 0; first < found.length; first += WRAPPED_AT_A_TIME) {
        for (const wrapped of await Promise.all(
          found.slice(first, first + WRAPPED_AT_A_TIME).map((key) => this.rewrapDataKey(key)),
        )) {
          if (wrapped !== 'erased') counts.dataKeys++;
          if (wrapped === 'anew') counts.rewrapped++;
        }
      }
    }
    return counts;
  }

  private async *keyObjects(): AsyncGenerator<string[]> {
    const subjects = `${this.prefix}/subjects/`;
    for (let after: string | undefined; ;) {
      const listed = await this.bucket.within((exchange) => exchange.list(subjects, LISTED_AT_A_TIME, after));
      if (listed.length === 0) return;
      after = listed.at(-1);
      yield listed.filter((key) => /^[^/]+\/key$/.test(key.slice(subjects.length)));
    }
  }

  private rewrapDataKey(at: string): Promise<'erased' | 'already' | 'anew'> {
    return this.bucket.within(async (exchange) => {
      for (let outcome: 'already' | 'anew' = 'already'; ; outcome = 'anew') {
        const stored = await exchange.getTagged(at);
        const record = stored === null ? null : keyRecordIn(stored.content);
        if (stored === null || record === null)
          throw new Error(`The key object ${at} is neither a key nor a tombstone.`);
        if ('erasedAt' in record) return 'erased';
        const where = keyContext(record.subject ?? at.split('/').at(-2) ?? '', record.version);
        const bytes = unwrapKey(this.keys, PURPOSE, where, record.key);
        if (wrappingKeyId(record.key) === this.keys.currentId) return outcome;
        await exchange.replace(at, stored.tag, json({ ...record, key: wrapKey(this.keys, PURPOSE, where, bytes) }));
      }
    });
  }

  private rewrapInstallationKey(at: string): Promise<boolean> {
    return this.bucket.within(async (exchange) => {
      for (let anew = false; ; anew = true) {
        const stored = await exchange.getTagged(at);
        if (stored === null) throw new Error(`The installation key ${at} is missing.`);
        const wrapped = stored.content.toString();
        const rewrapped = rewrappedInstallationKey(this.keys, at.split('/').at(-1) ?? '', wrapped);
        if (wrappingKeyId(wrapped) === this.keys.currentId) return anew;
        await exchange.replace(at, stored.tag, Buffer.from(rewrapped));
      }
    });
  }

  private async refuseVersions(exchange: S3Exchange): Promise<void> {
    if (await exchange.keepsVersions())
      throw new VaultMisconfigured(
        'VAULT_S3_BUCKET must name a bucket that never had versioning on: there, an erased data key would live on as an older version.',
      );
    this.knownToKeepNoVersions = true;
  }

  private markAt(masterKeyId: string): string {
    return `${this.prefix}/master-keys/${masterKeyId}`;
  }

  private ledgerMarkAt(): string {
    return `${this.prefix}/ledger-mark`;
  }

  private keyAt(subject: string): string {
    return `${this.prefix}/subjects/${segment(subject)}/key`;
  }

  /** Without an entry: the common prefix of all the subject's values. */
  private valueAt(subject: string, entry?: string): string {
    return `${this.prefix}/subjects/${segment(subject)}/values/${entry === undefined ? '' : segment(entry)}`;
  }
}

/** Names that would look like part of a path, or are too long for a key, are replaced by their hash. A tilde occurs in no plain name. */
function segment(name: string): string {
  return PLAIN_SEGMENT.test(name) ? name : `~${createHash('sha256').update(name).digest('base64url')}`;
}

function keyContext(subject: string, version: string): string {
  return `data-key/${subject} ${version}`;
}

function erased(subject: string): SubjectErased {
  return new SubjectErased(`Subject ${subject} was erased.`);
}

function json(record: KeyRecord): Buffer {
  return Buffer.from(JSON.stringify(record));
}

function keyRecordIn(stored: Buffer): KeyRecord | null {
  const record = jsonIn(stored.toString()) as Partial<{ erasedAt: string; version: string; key: string }> | null;
  if (typeof record?.erasedAt === 'string') return { erasedAt: record.erasedAt };
  return typeof record?.version === 'string' && typeof record.key === 'string' ? (record as KeyRecord) : null;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    return null;
  }
}
