// Copies of the embedded log and the vault on disk: made while a service runs, checked, restored and deleted.
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { copyFile, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { ReplacedFile, syncPath, writeNew } from '../adapters/durable-files.js';
import { EmbeddedEventStore } from '../adapters/event-store/embedded.js';
import { DiskVault } from '../adapters/vault/disk.js';
import {
  applyLedger,
  ErasureLedger,
  type LedgerMark,
  OtherLedger,
  refuseOtherLedger,
} from '../adapters/vault/erasure-ledger.js';
import { MasterKeys, MasterKeysMissing } from '../adapters/vault/master-keys.js';
import type { Config } from '../config/config.js';
import { RESTORED_FILE } from '../config/data-folder.js';
import { type GivenUp, givenUpIn, type RestoredFrom } from './given-up.js';
import type { Clock } from '../kernel/clock.js';
import { WrongInput } from './operator.js';

/** The log up to an event. `position` is null and `events` is 0 when the log is empty. */
export interface Checkpoint {
  readonly position: string | null;
  readonly events: number;
}

interface BackedUpFile {
  /** The path is relative to the data folder, and to the backup. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The manifest is written last, so a folder without a manifest is not a backup. */
export interface Manifest {
  readonly format: 1;
  readonly createdAt: string;
  readonly checkpoint: Checkpoint;
  /** Ids of the master keys, all of which are needed to open the vault. */
  readonly masterKeyIds: readonly string[];
  /** The end of the erasure ledger at the backup. A restore with an older ledger would restore erased people. */
  readonly ledger: LedgerMark | null;
  /** Streams that grew while the vault was copied. The vault's copy may have newer data of these streams than the log's copy. */
  readonly wentOn: readonly string[];
  /** Parts of the log that had been given up. The vault's copy may have data of these parts. Absent in backups of earlier versions. */
  readonly givenUp?: readonly GivenUp[];
  readonly files: readonly BackedUpFile[];
}

/** The content of RESTORED_FILE in a restored data folder. */
interface Restored extends RestoredFrom {
  readonly state: 'restoring' | 'quarantined' | 'released';
  readonly [detail: string]: unknown;
}

/** The erasure ledger, or the reason why it is missing. */
type Ledger = { readonly file: string } | { readonly missingBecause: string };

export interface RestoreOptions {
  readonly to: string;
  readonly ledger: Ledger;
}

export interface ReleaseOptions {
  readonly reason: string;
  readonly by: string;
  /** Null when the copy was restored without a ledger. */
  readonly ledger: Ledger | null;
}

/** Records the vault's erasures in the log. */
export type Completion = (log: EmbeddedEventStore, vault: DiskVault) => Promise<void>;

export interface ExpireOptions {
  /** The number of newest backups to keep. */
  readonly keep: number;
  /** With null, age alone keeps no backup. */
  readonly youngerThanDays: number | null;
}

const MANIFEST = 'manifest.json';
const LOG = join('events', 'events.mdb');
const VALUES = join('vault', 'values.mdb');
const DATA_KEYS = join('vault', 'data-keys');
/** Keys that a development installation made for itself. */
const KEYS = 'keys';
/** The path of the ledger unless ERASURE_LEDGER names another. */
const OWN_LEDGER = 'erasures.jsonl';
const OWN_KEYS = [join(KEYS, 'vault-master-key'), join(KEYS, 'jwt-signing-keys.json')];
const BACKUP = /^backup-\d{4}-\d{2}-\d{2}T[\d-]+Z$/;
const PARTIAL = /\.([^.]+)-(\d+)\.partial$/;
const DAY_MS = 86_400_000;
const PAGE = 1_000;

export class Backups {
  constructor(
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /**
   * Copies the log first, then the vault's values, then its data keys. A body is in the vault before an event names it, and a key is in the vault
   * before its values. Every file has a temporary name until it is complete and on the disk.
   */
  async create(into: string): Promise<Manifest & { readonly backup: string }> {
    const { config } = this;
    refuseElsewhere(config);
    for (const file of [LOG, VALUES, DATA_KEYS]) {
      if (!existsSync(join(config.dataFolder.path, file)))
        throw new WrongInput(
          `There is no ${file} in the data folder ${config.dataFolder.path}; DATA_DIR names the one to back up.`,
        );
    }
    const createdAt = this.clock.now().toISOString();
    const backup = resolve(into, `backup-${createdAt.replace(/[:.]/g, '-')}`);
    const partial = partialOf(backup);
    await mkdir(join(partial, 'vault'), { recursive: true, mode: 0o700 });
    await mkdir(join(partial, 'events'), { mode: 0o700 });
    try {
      const ledger = new ErasureLedger(config.vault.erasureLedger);
      await this.withVault(config.dataFolder.path, (vault) => refuseOtherLedger(ledger, vault));
      const { mark } = await ledger.after(null);
      await this.withLog(config.dataFolder.path, (log) => log.copyTo(join(partial, 'events')));
      await this.withVault(config.dataFolder.path, (vault) => vault.copyTo(join(partial, 'vault')));
      const ownKeys =
        config.vault.masterKey === null ? OWN_KEYS.filter((key) => existsSync(join(config.dataFolder.path, key))) : [];
      if (ownKeys.length > 0) await mkdir(join(partial, KEYS), { mode: 0o700 });
      for (const key of ownKeys) await copyFile(join(config.dataFolder.path, key), join(partial, key));
      const checkpoint = await this.withLog(partial, checkpointOf);
      const wentOn = await this.withLog(config.dataFolder.path, (log) => streamsAfter(log, checkpoint.position));
      const masterKeyIds = [...(await this.withVault(partial, (vault) => vault.masterKeyIds()))];
      const files: BackedUpFile[] = [];
      for (const path of [LOG, VALUES, DATA_KEYS, ...ownKeys]) {
        files.push({ path, ...(await digestOf(join(partial, path))) });
        await syncPath(join(partial, path));
      }
      for (const path of [LOG, VALUES]) await rm(`${join(partial, path)}-lock`, { force: true });
      const givenUp = await givenUpIn(config.dataFolder.path, await restoredIn(config.dataFolder.path));
      const manifest: Manifest = {
        format: 1,
        createdAt,
        checkpoint,
        masterKeyIds,
        ledger: mark,
        wentOn,
        givenUp,
        files,
      };
      await writeNew(join(partial, MANIFEST), sealed(manifest));
      await settle(partial, backup, ['events', 'vault', ...(ownKeys.length > 0 ? [KEYS] : [])]);
      return { backup, ...manifest };
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
  }

  /**
   * Restores into a folder next to the backup and passes its log and vault to `look`. The backup itself is only read. If the command is killed, the
   * next expiry removes the folder.
   */
  async inspect<Result>(
    backup: string,
    look: (log: EmbeddedEventStore, vault: DiskVault, manifest: Manifest) => Promise<Result>,
  ): Promise<Result> {
    const manifest = await this.readable(backup);
    const folder = partialOf(resolve(backup));
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { mode: 0o700 });
    try {
      await copyFiles(backup, manifest, folder);
      return await this.withLog(folder, async (log) => {
        await refuseOtherLog(log, manifest);
        return this.withVault(folder, (vault) => look(log, vault, manifest));
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /**
   * Restores into a data folder that starts in quarantine. Until the folder is complete, it has a temporary name and a mark that prevents every
   * service from starting on it. Before the folder gets its name, the subjects in the ledger are erased and `complete` runs. Returns the number of
   * these subjects that the backup still had.
   */
  async restore(
    backup: string,
    { to, ledger }: RestoreOptions,
    complete: Completion,
  ): Promise<{ readonly dataDir: string; readonly erased: number; readonly checkpoint: Checkpoint }> {
    const manifest = await this.readable(backup);
    const dataDir = resolve(to);
    if (existsSync(dataDir) && (await readdir(dataDir)).length > 0)
      throw new WrongInput(`The folder ${dataDir} is not empty.`);
    if ('file' in ledger) await refuseOlderLedger(ledger.file, manifest);
    const partial = `${dataDir}.partial`;
    if (existsSync(partial)) {
      // The folder may contain the remains of a restore that was killed at any point.
      if ((await readdir(partial)).length > 0 && (await restoredIn(partial)) === null)
        throw new WrongInput(`The folder ${partial} is in the way.`);
      await rm(partial, { recursive: true });
    }
    await mkdir(partial, { recursive: true, mode: 0o700 });
    await writeNew(join(partial, RESTORED_FILE), text({ state: 'restoring' }));
    await copyFiles(backup, manifest, partial);
    const erased = await this.withVault(partial, async (vault) => {
      if (!('file' in ledger)) await vault.forgetLedger();
      const applied = 'file' in ledger ? await eraseNamed(ledger.file, vault) : 0;
      await this.withLog(partial, async (log) => {
        await refuseOtherLog(log, manifest);
        await complete(log, vault);
      });
      return applied;
    });
    if ('file' in ledger) await keepLedger(ledger.file, partial);
    await this.note(partial, {
      state: 'quarantined',
      restoredAt: this.clock.now().toISOString(),
      backupOf: manifest.createdAt,
      checkpoint: manifest.checkpoint,
      ...(manifest.givenUp && { givenUp: manifest.givenUp }),
      ...('file' in ledger ? { erasedByLedger: erased } : { withoutLedger: ledger.missingBecause }),
    });
    await settle(partial, dataDir, ['events', 'vault', ...(existsSync(join(partial, KEYS)) ? [KEYS] : [])]);
    return { dataDir, erased, checkpoint: manifest.checkpoint };
  }

  /**
   * Erases the people that the original has erased since the restore, and then turns the restored copy into an ordinary data folder. RESTORED_FILE
   * records the reason and the operator.
   */
  async release(folder: string, { reason, by, ledger }: ReleaseOptions, complete: Completion): Promise<object> {
    const restored = await restoredIn(folder);
    if (restored?.state !== 'quarantined')
      throw new WrongInput(`The folder ${resolve(folder)} is not a restored copy that waits for its release.`);
    if (ledger === null && !('withoutLedger' in restored)) {
      throw new WrongInput(
        'Give the present erasure ledger with --ledger <file>, or say why there is none with --without-ledger <reason>.',
      );
    }
    let known: object = {};
    if (ledger !== null && 'file' in ledger) {
      const { file } = ledger;
      if (!existsSync(file)) throw new WrongInput(`There is no erasure ledger ${file}.`);
      if (resolve(file) === resolve(folder, OWN_LEDGER))
        throw new WrongInput(
          `The ledger ${file} is the one that the restore used. Give the ledger that the service has written since.`,
        );
      known = await this.withVault(folder, async (vault) => {
        const erasedAtRelease = await eraseNamed(file, vault);
        await this.withLog(folder, (log) => complete(log, vault));
        return { erasedAtRelease };
      });
      await keepLedger(file, folder);
    } else if (ledger !== null) known = { releasedWithoutLedger: ledger.missingBecause };
    const released: Restored = {
      ...restored,
      state: 'released',
      releasedAt: this.clock.now().toISOString(),
      releasedBy: by,
      reason,
      ...known,
    };
    await this.note(folder, released);
    return released;
  }

  /** Begins a new ledger when the ledger that the vault refers to is permanently lost. The new ledger records the reason and the operator. */
  async acceptLedger(reason: string, by: string): Promise<object> {
    const { config } = this;
    if (config.vault.place.kind !== 'disk')
      throw new WrongInput(
        'The vault is in S3. Delete its object ledger-mark, see docs/operations/backups-and-restore.md.',
      );
    if (!existsSync(join(config.dataFolder.path, VALUES)))
      throw new WrongInput(
        `There is no ${VALUES} in the data folder ${config.dataFolder.path}; DATA_DIR names the one of the vault.`,
      );
    const ledger = new ErasureLedger(config.vault.erasureLedger);
    return this.withVault(config.dataFolder.path, async (vault) => {
      const mark = await vault.ledgerMark();
      if (mark === null || (await ledger.holds(mark)))
        throw new WrongInput(
          `The erasure ledger ${ledger.file} has all erasures that the vault knows, so a new one is not needed.`,
        );
      const beginning = { begunAt: this.clock.now().toISOString(), by, lostBecause: reason };
      await ledger.begin(beginning);
      await vault.forgetLedger();
      return { ledger: ledger.file, ...beginning };
    });
  }

  /** Removes backups beyond the limits and the remains of killed runs. The newest backup always stays. */
  async expire(
    directory: string,
    { keep, youngerThanDays }: ExpireOptions,
  ): Promise<{ readonly kept: string[]; readonly removed: string[] }> {
    const names = (await readdir(directory)).sort().reverse();
    const backups = names.filter((name) => BACKUP.test(name));
    const now = this.clock.now().getTime();
    const kept = backups.filter(
      (name, index) =>
        index < Math.max(keep, 1) || (youngerThanDays !== null && now - timeOf(name) < youngerThanDays * DAY_MS),
    );
    const removed: string[] = [];
    for (const name of backups.filter((candidate) => !kept.includes(candidate))) {
      // A folder with the new name does not count as a backup, even if the removal stops halfway.
      const leftOver = partialOf(join(directory, name));
      await rename(join(directory, name), leftOver);
      await rm(leftOver, { recursive: true });
      removed.push(name);
    }
    for (const name of names) {
      if (!(await isAbandoned(join(directory, name), now))) continue;
      await rm(join(directory, name), { recursive: true });
      removed.push(name);
    }
    return { kept, removed };
  }

  /** The manifest of a backup that is complete and whose master keys are available. */
  private async readable(backup: string): Promise<Manifest> {
    const manifest = await manifestOf(backup);
    const keys = await this.masterKeys(backup);
    const missing = manifest.masterKeyIds.filter((id) => !keys?.has(id));
    if (missing.length > 0)
      throw new WrongInput(`The backup needs the master key ${missing.join(', ')}; VAULT_MASTER_KEY must name it.`);
    return manifest;
  }

  /** The configured keys; in development, the keys that an installation made for itself. */
  private async masterKeys(folder: string): Promise<MasterKeys | null> {
    const own = join(folder, KEYS, 'vault-master-key');
    if (this.config.vault.masterKey === null && !existsSync(own)) return null;
    return MasterKeys.parse(this.config.vault.masterKey ?? (await readFile(own, 'utf8')).trim());
  }

  private async withLog<Result>(folder: string, use: (log: EmbeddedEventStore) => Promise<Result>): Promise<Result> {
    const { place } = this.config.eventStore;
    const log = EmbeddedEventStore.open({
      directory: join(folder, 'events'),
      ...(place.kind === 'embedded' && { mapSizeBytes: place.maxBytes }),
    });
    return use(log).finally(() => log.close());
  }

  private async withVault<Result>(folder: string, use: (vault: DiskVault) => Promise<Result>): Promise<Result> {
    const { place } = this.config.vault;
    const keys = await this.masterKeys(folder);
    if (keys === null) throw new WrongInput(`Neither VAULT_MASTER_KEY nor ${join(folder, KEYS)} has a master key.`);
    const vault = DiskVault.open({
      directory: join(folder, 'vault'),
      keys,
      clock: this.clock,
      ...(place.kind === 'disk' && { mapSizeBytes: place.maxBytes }),
    });
    try {
      await vault.checkMasterKeys();
      return await use(vault);
    } catch (error) {
      throw error instanceof MasterKeysMissing || error instanceof OtherLedger ? new WrongInput(error.message) : error;
    } finally {
      await vault.close();
    }
  }

  private async note(folder: string, restored: Restored): Promise<void> {
    const file = new ReplacedFile(join(folder, RESTORED_FILE));
    await file.replace(await file.read(), text(restored));
  }
}

/** Gives a complete folder its final name. */
function refuseElsewhere({ eventStore, vault }: Config): void {
  const where = [
    eventStore.place.kind === 'embedded' ? '' : 'log in EventStoreDB',
    vault.place.kind === 'disk' ? '' : 'vault in S3',
  ].filter((part) => part !== '');
  if (where.length > 0)
    throw new WrongInput(
      `ops backup copies an embedded log and a vault on disk. This installation has its ${where.join(' and its ')}. Back that up with its own tools, see docs/operations/backups-and-restore.md.`,
    );
}

async function settle(partial: string, name: string, folders: readonly string[]): Promise<void> {
  for (const folder of folders) await syncPath(join(partial, folder));
  await syncPath(partial);
  await rename(partial, name);
  await syncPath(dirname(name));
}

function partialOf(name: string): string {
  return `${name}.${hostname().replaceAll('.', '-')}-${process.pid}.partial`;
}

/** Whether the process that made the folder has ended. If another machine made it: whether the folder has not changed for a day. */
async function isAbandoned(path: string, now: number): Promise<boolean> {
  const [, host, pid] = PARTIAL.exec(path) ?? [];
  if (host === undefined) return false;
  if (host !== hostname().replaceAll('.', '-')) return now - (await stat(path)).mtimeMs > DAY_MS;
  try {
    process.kill(Number(pid), 0);
    return Number(pid) === process.pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** The time at which a backup with this name was made. */
function timeOf(name: string): number {
  return Date.parse(name.replace(/^backup-(.*T\d\d)-(\d\d)-(\d\d)-(\d{3}Z)$/, '$1:$2:$3.$4'));
}

async function checkpointOf(log: EmbeddedEventStore): Promise<Checkpoint> {
  const position = await log.head();
  // Positions count the events.
  return { position, events: Number(position ?? 0) };
}

async function streamsAfter(log: EmbeddedEventStore, position: string | null): Promise<string[]> {
  const streams = new Set<string>();
  for (let after = position; ;) {
    const page = await log.readAll(after, PAGE);
    for (const { stream } of page) streams.add(stream);
    after = page.at(-1)?.position ?? after;
    if (page.length < PAGE) return [...streams];
  }
}

async function refuseOtherLog(log: EmbeddedEventStore, { checkpoint }: Manifest): Promise<void> {
  const { position } = await checkpointOf(log);
  if (position !== checkpoint.position)
    throw new WrongInput(
      `The backup is damaged: its log ends at ${position ?? 'nothing'}, not at ${checkpoint.position ?? 'nothing'}.`,
    );
}

async function refuseOlderLedger(file: string, { ledger: mark }: Manifest): Promise<void> {
  if (!existsSync(file)) throw new WrongInput(`There is no erasure ledger ${file}.`);
  if (mark !== null && !(await new ErasureLedger(file).holds(mark)))
    throw new WrongInput(
      `The erasure ledger ${file} is older than the backup or belongs to another installation. It lacks erasures that the backup knows.`,
    );
}

/** Returns the number of subjects that were not erased before. `complete` records them in the log. */
async function eraseNamed(file: string, vault: DiskVault): Promise<number> {
  const { erased } = await applyLedger(new ErasureLedger(file), vault, { all: true, record: async () => undefined });
  return erased.length;
}

/** The copy uses the ledger with which it was restored. */
async function keepLedger(file: string, folder: string): Promise<void> {
  const draft = join(folder, `${OWN_LEDGER}.new`);
  await copyFile(file, draft);
  await syncPath(draft);
  await rename(draft, join(folder, OWN_LEDGER));
  await syncPath(folder);
}

async function copyFiles(backup: string, { files }: Manifest, into: string): Promise<void> {
  for (const { path, bytes, sha256 } of files) {
    await mkdir(dirname(join(into, path)), { recursive: true, mode: 0o700 });
    const copied = await digestOf(join(backup, path), join(into, path));
    if (copied.bytes !== bytes || copied.sha256 !== sha256)
      throw new WrongInput(`The backup is damaged: ${path} has changed since the backup.`);
  }
}

/** Digest of a file. If `copy` is given, the file's content is also written there and flushed to disk. */
async function digestOf(file: string, copy?: string): Promise<Omit<BackedUpFile, 'path'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  const target = copy === undefined ? null : await open(copy, 'wx', 0o600);
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
      await target?.writeFile(chunk);
    }
    await target?.sync();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new WrongInput(`The backup is damaged: ${file} is missing.`);
    throw error;
  } finally {
    await target?.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}

function text(content: object): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** Includes a digest of the manifest, so that a change of the manifest is detected too. */
function sealed(manifest: Manifest): string {
  return text({ ...manifest, sha256: createHash('sha256').update(JSON.stringify(manifest)).digest('hex') });
}

async function manifestOf(backup: string): Promise<Manifest> {
  const file = join(backup, MANIFEST);
  if (!existsSync(file))
    throw new WrongInput(`${resolve(backup)} is not a complete backup, because it has no manifest.`);
  const { sha256, ...manifest } = (await jsonIn(
    file,
    'The backup is damaged: its manifest cannot be read.',
  )) as Manifest & { readonly sha256?: string };
  if (manifest.format !== 1) throw new WrongInput('The backup has a format that this version does not read.');
  if (sha256 !== createHash('sha256').update(JSON.stringify(manifest)).digest('hex'))
    throw new WrongInput('The backup is damaged: its manifest has changed since the backup.');
  return manifest;
}

export async function restoredIn(folder: string): Promise<Restored | null> {
  const file = join(folder, RESTORED_FILE);
  return existsSync(file) ? ((await jsonIn(file, `${file} cannot be read.`)) as Restored) : null;
}

async function jsonIn(file: string, otherwise: string): Promise<object> {
  const content = await readFile(file, 'utf8');
  try {
    return JSON.parse(content) as object;
  } catch {
    throw new WrongInput(otherwise);
  }
}
