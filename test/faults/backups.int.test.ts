// Backups of a data folder. An altered, incomplete or forbidden backup is refused. Erased data stays erased. A killed
// command leaves no folder that looks like a complete backup or data folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { DataKeyFile } from '../../src/adapters/vault/data-key-file.js';
import { DiskVault } from '../../src/adapters/vault/disk.js';
import { applyLedger, ErasureLedger } from '../../src/adapters/vault/erasure-ledger.js';
import { GuardedVault } from '../../src/adapters/vault/guarded.js';
import { MasterKeys } from '../../src/adapters/vault/master-keys.js';
import { readConfig } from '../../src/config/config.js';
import { recordErasures } from '../../src/modules/erasure-evidence.js';
import { SystemClock } from '../../src/kernel/clock.js';
import { newId, newSalt } from '../../src/kernel/ids.js';
import { screenedPerson, subjectOf } from '../../src/modules/screening/domain/screened-person.js';
import {
  type Manifest,
  Backups,
  type Completion,
  type ReleaseOptions,
  type RestoreOptions,
  restoredIn,
} from '../../src/ops/backups.js';
import { givenUpIn } from '../../src/ops/given-up.js';
import { verifyLog } from '../../src/platform/audit/verify.js';
import { AggregateStore } from '../../src/platform/aggregates/aggregate-store.js';
import { SubjectErased } from '../../src/ports/vault.js';

const KEY = `k:${Buffer.alloc(32, 7).toString('base64')}`;
const SUBJECTS = 40;
const VALUE = Buffer.alloc(6_000, 1);
const clock = new SystemClock();
const CONTEXT = {
  accountId: newId(),
  environment: 'test',
  actor: { kind: 'system', id: 'test' },
  correlationId: newId(),
  causationId: newId(),
} as const;
const personId = newId();
const person = { id: personId, subjectId: subjectOf(personId, screenedPerson.initial) };
const env = (dataDir: string, more: Record<string, string> = {}): Record<string, string> => ({
  DATA_DIR: dataDir,
  REDIS_URL: 'redis://127.0.0.1',
  VAULT_MASTER_KEY: KEY,
  ...more,
});
const backupsOf = (dataDir: string, more: Record<string, string> = {}): Backups =>
  new Backups(readConfig(env(dataDir, more), { tools: true }), clock);
const openVault = (dataDir: string): DiskVault =>
  DiskVault.open({ directory: join(dataDir, 'vault'), keys: MasterKeys.parse(KEY), clock });
const openLog = (dataDir: string): EmbeddedEventStore =>
  EmbeddedEventStore.open({ directory: join(dataDir, 'events') });

let root: string;
/** The folder that is backed up. */
let dataDir: string;
let store: string;
/** A backup of this folder that no test changes. */
let good: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'backups-'));
  [dataDir, store] = [join(root, 'data'), join(root, 'store')];
  const [vault, log] = [openVault(dataDir), openLog(dataDir)];
  await Promise.all(Array.from({ length: SUBJECTS }, (_, index) => vault.put(`s${index}`, 'value', VALUE)));
  await vault.put(person.subjectId, 'value', VALUE);
  await began(ledgerOf(dataDir).file, vault);
  const aggregates = new AggregateStore(log, { applyNow: async () => undefined }, clock, {
    appendConflict: () => undefined,
  });
  await aggregates.execute(
    screenedPerson,
    person.id,
    { kind: 'open', personId: person.id, sessionId: newId(), salt: newSalt() },
    CONTEXT,
  );
  await vault.close();
  await log.close();
  good = (await backupsOf(dataDir).create(store)).backup;
});
afterAll(() => rmSync(root, { recursive: true }));

/** A ledger as the first start with a vault leaves it. */
async function began(file: string, vault?: DiskVault): Promise<ErasureLedger> {
  const ledger = new ErasureLedger(file);
  await ledger.begin({ begunAt: clock.now().toISOString() });
  if (vault) await applyLedger(ledger, vault, { record: null });
  return ledger;
}

let fresh = 0;
const newFolder = (): string => join(root, `folder-${(fresh += 1)}`);
/** A copy of the good backup that a test may damage. */
function copyOfBackup(): string {
  const copy = newFolder();
  cpSync(good, copy, { recursive: true });
  return copy;
}
const ledgerOf = (folder: string): { readonly file: string } => ({ file: join(folder, 'erasures.jsonl') });
const complete: Completion = (log, vault) =>
  recordErasures(log, (subject) => vault.erasedAt(subject) !== null, {
    actor: { kind: 'operator', id: 'test' },
    correlationId: newId(),
    causationId: newId(),
  });
const restore = (
  backup: string,
  options: Partial<RestoreOptions> = {},
  more: Record<string, string> = {},
): Promise<unknown> =>
  backupsOf(dataDir, more).restore(backup, { to: newFolder(), ledger: ledgerOf(dataDir), ...options }, complete);
const release = (folder: string, options: Partial<ReleaseOptions> = {}): Promise<unknown> =>
  backupsOf(folder).release(
    folder,
    { reason: 'the machine is gone', by: 'ada', ledger: ledgerOf(dataDir), ...options },
    complete,
  );
const inspect = (backup: string): Promise<Manifest> =>
  backupsOf(dataDir).inspect(backup, async (_log, _vault, manifest) => manifest);
const refusalOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'nothing',
    (error: Error) => error.message,
  );
const stateOf = (folder: string): string => JSON.parse(readFileSync(join(folder, 'restored.json'), 'utf8')).state;

describe('a backup', () => {
  it('lists its contents, and does not include a configured master key', async () => {
    expect(await inspect(good)).toMatchObject({
      format: 1,
      checkpoint: { position: '00000000000000000001', events: 1 },
      masterKeyIds: ['k'],
    });
    expect(readdirSync(good).sort()).toEqual(['events', 'manifest.json', 'vault']);
  });

  it.each(['events/events.mdb', 'vault/values.mdb', 'vault/data-keys', 'manifest.json'])(
    'is refused when a byte of %s differs',
    async (file) => {
      const backup = copyOfBackup();
      const bytes = readFileSync(join(backup, file));
      bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
      writeFileSync(join(backup, file), bytes);
      for (const attempt of [inspect, restore])
        expect(await refusalOf(attempt(backup))).toMatch(/^The backup (is damaged|needs the master key)/);
    },
  );

  it.each([
    ['manifest.json', 'is not a complete backup'],
    ['vault/data-keys', 'is damaged'],
  ])('is refused without its %s', async (file, why) => {
    const backup = copyOfBackup();
    rmSync(join(backup, file));
    for (const attempt of [inspect, restore]) expect(await refusalOf(attempt(backup))).toContain(why);
  });

  it('is refused without its master key', async () => {
    const other = `other:${Buffer.alloc(32, 8).toString('base64')}`;
    expect(await refusalOf(restore(good, {}, { VAULT_MASTER_KEY: other }))).toBe(
      'The backup needs the master key k; VAULT_MASTER_KEY must name it.',
    );
    expect(await refusalOf(restore(good, {}, { VAULT_MASTER_KEY: other.replace('other', 'k') }))).toMatch(
      /^VAULT_MASTER_KEY gives another key as 'k'/,
    );
    expect(await refusalOf(restore(good, {}, { VAULT_MASTER_KEY: '' }))).toBe(
      'The backup needs the master key k; VAULT_MASTER_KEY must name it.',
    );
  });

  it('is refused unless the data folder has both an embedded log and a vault on disk', async () => {
    const elsewhere = 'Back that up with its own tools, see docs/operations/backups-and-restore.md.';
    const s3 = { VAULT: 's3', VAULT_S3_BUCKET: 'bucket', VAULT_S3_REGION: 'us-east-1' };
    expect(
      await refusalOf(
        backupsOf(dataDir, { EVENT_STORE: 'eventstoredb', EVENTSTORE_URL: 'esdb://x', ...s3 }).create(store),
      ),
    ).toMatch(new RegExp(`its log in EventStoreDB and its vault in S3. ${elsewhere}$`));
    expect(await refusalOf(backupsOf(dataDir, s3).create(store))).toContain('has its vault in S3');
    expect(await refusalOf(backupsOf(join(root, 'nothing')).create(store))).toMatch(
      /^There is no events\/events\.mdb in the data folder/,
    );
    expect(existsSync(join(root, 'nothing'))).toBe(false);
  });
});

describe('a backup of a vault without its ledger', () => {
  it('is refused until the ledger exists or an operator says why it is lost', async () => {
    const live = newFolder();
    cpSync(dataDir, live, { recursive: true });
    const elsewhere = { ERASURE_LEDGER: newFolder() };
    const refused = /^The erasure ledger .* is missing, empty, older or another one/;
    expect(await refusalOf(backupsOf(live, elsewhere).create(newFolder()))).toMatch(refused);
    expect(existsSync(elsewhere.ERASURE_LEDGER)).toBe(false);
    writeFileSync(elsewhere.ERASURE_LEDGER, '');
    expect(await refusalOf(backupsOf(live, elsewhere).create(newFolder()))).toMatch(refused);
    expect(await refusalOf(backupsOf(live).acceptLedger('by mistake', 'ada'))).toContain(
      'has all erasures that the vault knows',
    );
    expect(await backupsOf(live, elsewhere).acceptLedger('burnt', 'ada')).toMatchObject({
      by: 'ada',
      lostBecause: 'burnt',
    });
    const { backup } = await backupsOf(live, elsewhere).create(newFolder());
    // The backup no longer accepts the former ledger.
    expect(await refusalOf(restore(backup))).toMatch(/is older than the backup or belongs to another installation/);
    expect(await refusalOf(restore(backup, { ledger: { file: elsewhere.ERASURE_LEDGER } }))).toBe('nothing');
  });
});

describe('a restore', () => {
  it('needs an empty folder, and names a folder that is not empty', async () => {
    const to = newFolder();
    mkdirSync(to);
    writeFileSync(join(to, 'mine'), '');
    expect(await refusalOf(restore(good, { to }))).toBe(`The folder ${to} is not empty.`);
    expect(await refusalOf(restore(good, { to: newFolder().concat('/deep') }))).toBe('nothing');
  });

  it('needs the erasure ledger of the backup or a later ledger', async () => {
    const [older, ledger] = [newFolder(), newFolder()];
    cpSync(ledgerOf(dataDir).file, older);
    cpSync(older, ledger);
    const own = { ERASURE_LEDGER: ledger };
    await new ErasureLedger(ledger).record('s0', clock.now());
    const { backup } = await backupsOf(dataDir, own).create(store);
    expect(await refusalOf(restore(backup, { ledger: { file: older } }))).toMatch(
      /is older than the backup or belongs to another installation/,
    );
    expect(await refusalOf(restore(backup, { ledger: { file: newFolder() } }))).toMatch(/^There is no erasure ledger/);
    await new ErasureLedger(ledger).record('s1', clock.now());
    expect(await restore(backup, { ledger: { file: ledger } })).toMatchObject({ erased: 2 });
  });

  it('keeps persons erased who were erased after the backup, and records their erasure in the log', async () => {
    const live = newFolder();
    cpSync(dataDir, live, { recursive: true });
    const vault = openVault(live);
    const ledger = new ErasureLedger(ledgerOf(live).file);
    await new GuardedVault(vault, { ledger, clock, readOnly: false }).erase(person.subjectId);
    await vault.close();
    const to = newFolder();
    expect(await restore(good, { to, ledger: ledgerOf(live) })).toMatchObject({ erased: 1 });
    const [restored, log] = [openVault(to), openLog(to)];
    await expect(restored.get(person.subjectId, 'value')).rejects.toThrow(SubjectErased);
    expect(await restored.get('s1', 'value')).toEqual(VALUE);
    expect((await log.readStream(`person-${person.id}`)).map(({ type }) => type)).toEqual([
      'ScreeningOpened',
      'SubjectKeyDestroyed',
    ]);
    expect(await verifyLog(log, { onFault: () => undefined })).toMatchObject({ faults: 0 });
    await restored.close();
    await log.close();
    // The copy continues the ledger with which it was restored.
    expect(readFileSync(join(to, 'erasures.jsonl'))).toEqual(readFileSync(ledger.file));
  });

  it('without a ledger is recorded in the folder with the reason', async () => {
    const to = newFolder();
    await restore(good, { to, ledger: { missingBecause: 'burnt' } });
    expect(JSON.parse(readFileSync(join(to, 'restored.json'), 'utf8'))).toMatchObject({
      state: 'quarantined',
      withoutLedger: 'burnt',
    });
    // The copy starts without a known ledger.
    const vault = openVault(to);
    expect(await vault.ledgerMark()).toBeNull();
    await vault.close();
    expect(await release(to, { ledger: null })).toMatchObject({ state: 'released', withoutLedger: 'burnt' });
  });

  it('makes a folder that starts only with ROLE=investigation until an operator releases it with a reason', async () => {
    const to = newFolder();
    await restore(good, { to });
    for (const ROLE of ['all', 'api', 'worker', 'projector'])
      expect(() => readConfig(env(to, { ROLE }))).toThrow(
        /ROLE must be investigation, because DATA_DIR is a restored copy .*--ledger <file>/,
      );
    expect(readConfig(env(to, { ROLE: 'investigation' }))).toMatchObject({ process: { readOnly: true } });
    expect(readConfig(env(to), { tools: true })).toMatchObject({ process: { readOnly: true } });
    expect(await release(to)).toMatchObject({ state: 'released', releasedBy: 'ada', reason: 'the machine is gone' });
    expect(readConfig(env(to))).toMatchObject({ process: { role: 'all', readOnly: false } });
    expect(await refusalOf(release(to))).toContain('is not a restored copy that waits for its release');
  });

  it('is released only when it has erased the persons that the original has erased since the restore', async () => {
    const live = newFolder();
    cpSync(dataDir, live, { recursive: true });
    const to = newFolder();
    await restore(good, { to });
    const vault = openVault(live);
    await new GuardedVault(vault, { ledger: new ErasureLedger(ledgerOf(live).file), clock, readOnly: false }).erase(
      person.subjectId,
    );
    await vault.close();
    expect(await refusalOf(release(to, { ledger: null }))).toMatch(/^Give the present erasure ledger with --ledger/);
    expect(await refusalOf(release(to, { ledger: ledgerOf(to) }))).toContain('is the one that the restore used');
    expect(await release(to, { ledger: ledgerOf(live) })).toMatchObject({ state: 'released', erasedAtRelease: 1 });
    const [restored, log] = [openVault(to), openLog(to)];
    await expect(restored.get(person.subjectId, 'value')).rejects.toThrow(SubjectErased);
    expect((await log.readStream(`person-${person.id}`)).map(({ type }) => type)).toEqual([
      'ScreeningOpened',
      'SubjectKeyDestroyed',
    ]);
    await restored.close();
    await log.close();
    expect(readFileSync(join(to, 'erasures.jsonl'))).toEqual(readFileSync(ledgerOf(live).file));
  });
});

describe('accepted losses of a log', () => {
  it('are copied with each copy of the log, so that the audit of the copy does not report them again', async () => {
    const [first, second] = [newFolder(), newFolder()];
    await restore(good, { to: first });
    await release(first);
    const accepted = { at: '2026-02-01T00:00:00.000Z', found: { position: '00000000000000000001' } };
    writeFileSync(join(first, 'log-watch.json'), JSON.stringify({ accepted: [accepted] }));
    const { backup, createdAt } = await backupsOf(first).create(store);
    await restore(backup, { to: second, ledger: ledgerOf(first) });
    await release(second, { ledger: ledgerOf(first) });
    const windows = await givenUpIn(second, await restoredIn(second));
    expect(windows.map(({ from, position }) => [from, position])).toEqual([
      [(await inspect(good)).createdAt, ''],
      ['', '00000000000000000001'],
      [createdAt, ''],
    ]);
  });
});

describe('an erasure during a backup', () => {
  it("is also effective in the backup, although the backup's values were copied before its keys", async () => {
    const live = newFolder();
    cpSync(dataDir, live, { recursive: true });
    const vault = openVault(live);
    const copyKeys = jest.spyOn(DataKeyFile.prototype, 'copyTo').mockImplementationOnce(async function (
      this: DataKeyFile,
      to: string,
    ) {
      await vault.erase('s3');
      await vault.erase(person.subjectId);
      await this.copyTo(to);
    });
    try {
      const { backup } = await backupsOf(live).create(store);
      await backupsOf(live).inspect(backup, async (_log, copy) => {
        await expect(copy.get('s3', 'value')).rejects.toThrow(SubjectErased);
        expect(await copy.get('s4', 'value')).toEqual(VALUE);
      });
      // The log was copied before the erasure. The restored log still records the erasure.
      const to = newFolder();
      await restore(backup, { to });
      const log = openLog(to);
      expect((await log.readStream(`person-${person.id}`)).map(({ type }) => type)).toEqual([
        'ScreeningOpened',
        'SubjectKeyDestroyed',
      ]);
      await log.close();
    } finally {
      copyKeys.mockRestore();
      await vault.close();
    }
  });

  it('differs from a missing key without an erasure: such a key makes the backup fail', async () => {
    const live = newFolder();
    cpSync(dataDir, live, { recursive: true });
    writeFileSync(
      join(live, 'vault', 'data-keys'),
      Buffer.alloc(readFileSync(join(live, 'vault', 'data-keys')).length),
    );
    expect(await refusalOf(backupsOf(live).create(newFolder()))).toMatch(/^Data key \d+ is missing/);
  });
});

describe('a killed command', () => {
  const loader = new URL('../support/typescript.js', import.meta.url).href;
  /** True if the process was killed at this step. A process with fewer steps ends by itself. */
  async function killedAt(step: number, ...args: string[]): Promise<boolean> {
    const child = spawn(
      process.execPath,
      ['--import', loader, resolve('test/support/backup-process.ts'), String(step), dataDir, ...args],
      { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, NODE_OPTIONS: '', VAULT_MASTER_KEY: KEY } },
    );
    const [code, signal] = await once(child, 'exit');
    expect([code, signal]).toEqual(signal === null ? [0, null] : [null, 'SIGKILL']);
    return signal !== null;
  }

  it('during a backup leaves nothing that could be restored, and the next expiry removes the rest', async () => {
    let step = 2;
    for (; ; step += 2) {
      const into = newFolder();
      if (!(await killedAt(step, 'create', into))) break;
      for (const left of readdirSync(into)) {
        // The backup already has its final name when the process is killed at its last step.
        if (existsSync(join(into, left, 'manifest.json')) && !left.endsWith('.partial')) {
          expect((await inspect(join(into, left))).checkpoint.events).toBe(1);
          continue;
        }
        expect(left).toMatch(/^backup-.*\.partial$/);
        if (!existsSync(join(into, left, 'manifest.json')))
          for (const attempt of [inspect, restore])
            expect(await refusalOf(attempt(join(into, left)))).toContain('is not a complete backup');
        expect(await backupsOf(dataDir).expire(into, { keep: 1, youngerThanDays: null })).toEqual({
          kept: [],
          removed: [left],
        });
      }
    }
    expect(step).toBeGreaterThan(10);
  });

  it('during a restore leaves no folder that a service starts on, and the restore can be repeated', async () => {
    let step = 3;
    for (; ; step += 3) {
      const to = newFolder();
      if (!(await killedAt(step, 'restore', good, to, ledgerOf(dataDir).file))) break;
      const partial = `${to}.partial`;
      if (existsSync(to)) continue;
      // An empty folder has no mark yet, and a complete folder has its final mark.
      if (existsSync(join(partial, 'events')) && stateOf(partial) !== 'quarantined') {
        for (const ROLE of ['all', 'investigation'])
          expect(() => readConfig(env(partial, { ROLE }))).toThrow(
            /DATA_DIR must not be a folder whose restore was interrupted/,
          );
      }
      await restore(good, { to });
      expect([stateOf(to), existsSync(partial)]).toEqual(['quarantined', false]);
    }
    expect(step).toBeGreaterThan(12);
  });
});

describe('a verification of a backup', () => {
  it('makes its own copy next to the backup; when it is killed, the next expiry removes this copy', async () => {
    const into = newFolder();
    cpSync(good, join(into, 'backup-2026-01-01T00-00-00-000Z'), { recursive: true });
    const beside = await backupsOf(dataDir).inspect(join(into, 'backup-2026-01-01T00-00-00-000Z'), async () => {
      const [name = ''] = readdirSync(into).filter((entry) => entry.endsWith('.partial'));
      cpSync(join(into, name), join(into, 'kept'), { recursive: true });
      return name;
    });
    expect(readdirSync(into)).toEqual(['backup-2026-01-01T00-00-00-000Z', 'kept']);
    cpSync(join(into, 'kept'), join(into, beside), { recursive: true });
    expect((await backupsOf(dataDir).expire(into, { keep: 1, youngerThanDays: null })).removed).toEqual([beside]);
  });
});

describe('the expiry of backups', () => {
  const made = (name: string, into: string): void => {
    mkdirSync(join(into, name), { recursive: true });
    writeFileSync(join(into, name, 'manifest.json'), '{}');
  };

  it('keeps the newest backups, young backups, unfinished backups and files that are not backups', async () => {
    const into = newFolder();
    const day = 86_400_000;
    const names = [0, 1, 2, 3, 4].map(
      (days) => `backup-${new Date(clock.now().getTime() - days * day).toISOString().replace(/[:.]/g, '-')}`,
    );
    for (const name of [...names, 'letters', `${names[0]}.${hostname().replaceAll('.', '-')}-${process.ppid}.partial`])
      made(name, into);
    const expire = (keep: number, youngerThanDays: number | null = null): Promise<{ removed: string[] }> =>
      backupsOf(dataDir).expire(into, { keep, youngerThanDays });
    expect((await expire(1, 4)).removed).toEqual([names[4]]);
    expect((await expire(2)).removed).toEqual([names[2], names[3]]);
    expect((await expire(0)).removed).toEqual([names[1]]);
    expect(readdirSync(into).sort()).toEqual([
      names[0],
      `${names[0]}.${hostname().replaceAll('.', '-')}-${process.ppid}.partial`,
      'letters',
    ]);
  });
});
