// A small log that a sealer of its own seals, for tests of the places outside.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { DiskTransparencyFiles } from '../../src/adapters/transparency-files/disk.js';
import { newId } from '../../src/kernel/ids.js';
import { caseTagsOf } from '../../src/modules/case-tags.js';
import { genesisOf, linkTo } from '../../src/platform/audit/chain.js';
import { policyText } from '../../src/transparency/checkpoint.js';
import { SealKeys } from '../../src/transparency/seal-keys.js';
import type { Outside } from '../../src/transparency/outside.js';
import { Sealer, type SealerObserver } from '../../src/transparency/sealer.js';
import { until } from './eventually.js';

export const SEAL_KEYS = new SealKeys(`k1:${Buffer.alloc(32, 1).toString('base64')}`, 'https://log.example');

/** No place outside. */
export const ALONE_IN_THE_WORLD: Outside = {
  witnesses: [],
  anchors: [],
  authority: null,
  timeStampIntervalMs: 0,
  policy: policyText(SEAL_KEYS.verifiers),
};

export class SmallLog {
  readonly sealed = join(this.folder, 'transparency');
  readonly store = EmbeddedEventStore.open({ directory: join(this.folder, 'log'), mapSizeBytes: 2 ** 25 });

  constructor(
    readonly folder = mkdtempSync(join(tmpdir(), 'small-log-')),
    public size = 0,
  ) {}

  /** The log and its files as they are now. */
  async copy(): Promise<SmallLog> {
    const folder = mkdtempSync(join(tmpdir(), 'small-log-'));
    mkdirSync(join(folder, 'log'));
    await this.store.copyTo(join(folder, 'log'));
    if (existsSync(this.sealed)) cpSync(this.sealed, join(folder, 'transparency'), { recursive: true });
    return new SmallLog(folder, this.size);
  }

  /** Each event has a stream of its own, so that few appends store many. */
  async append(count: number): Promise<void> {
    const streams = Array.from({ length: count }, () => {
      const [stream, id, type, data] = [`credit-${newId()}`, newId(), 'CreditGranted', {}];
      const metadata = {
        schemaVersion: 1,
        accountId: null,
        environment: null,
        occurredAt: '2026-03-01T12:00:00.000Z',
        $correlationId: 'test',
        $causationId: 'test',
        actor: { kind: 'system' as const, id: 'test' },
      };
      const chain = linkTo(genesisOf(stream), { id, type, stream, revision: 0, data, metadata });
      return {
        stream,
        expected: 'no-stream' as const,
        events: [{ id, type, data, metadata: { ...metadata, chain: { ...chain } } }],
      };
    });
    await this.store.appendTogether(streams);
    this.size += count;
  }

  seal(outside: Outside, folder = this.sealed): RunningSealer {
    return new RunningSealer(this.store, folder, outside);
  }

  /** Seals all events and stops. */
  async sealAll(outside: Outside, folder = this.sealed): Promise<RunningSealer> {
    const sealer = this.seal(outside, folder);
    await until('all events are sealed', () => sealer.size === this.size);
    await sealer.stop();
    return sealer;
  }

  checkpoint(folder = this.sealed): string {
    return readFileSync(join(folder, 'checkpoint'), 'utf8');
  }

  async close(): Promise<void> {
    await this.store.close();
    rmSync(this.folder, { recursive: true });
  }
}

export class RunningSealer {
  size = -1;
  alarm: string | null = null;
  failures: unknown[] = [];
  /** The last problem of each place; null if the place has answered. */
  readonly places = new Map<string, string | null>();
  readonly weak = new Map<string, string>();
  private readonly sealer: Sealer;

  constructor(store: EmbeddedEventStore, folder: string, outside: Outside) {
    const observer: SealerObserver = {
      stopped: (reason) => (this.alarm ??= reason?.message ?? null),
      failed: (error) => this.failures.push(error),
      sealed: (size) => (this.size = size),
      asked: (place, problem) => this.places.set(place, problem === null ? null : String(problem)),
      weak: (place, reason) => this.weak.set(place, reason),
    };
    const parts = {
      store,
      tagOf: caseTagsOf(store, { records: true }),
      files: new DiskTransparencyFiles(folder),
      keys: SEAL_KEYS,
      leases: { take: async () => true, release: async () => undefined },
      outside,
    };
    this.sealer = new Sealer(parts, observer, 1, 5);
    this.sealer.start();
  }

  stop(): Promise<void> {
    return this.sealer.stop();
  }
}
