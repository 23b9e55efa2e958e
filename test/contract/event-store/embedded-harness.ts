// The embedded event store in a folder of its own, processes that write into the same folder, and the rules that every
// log must follow.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { EmbeddedEventStore, type EmbeddedEventStoreOptions } from '../../../src/adapters/event-store/embedded.js';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import type { LogFault } from '../../../src/ports/inspectable-log.js';
import type { Acknowledged, Refused } from '../../support/event-store-writer.js';
import type { EventStoreHarness } from './suite.js';

export class EmbeddedHarness implements EventStoreHarness {
  readonly logStartsEmpty = true;
  /** No connection to the log could break, because the store runs in this process. */
  readonly dropSubscriptions = 'cannot-drop';
  readonly together = 'all-or-nothing';
  directory: string;
  private store: EmbeddedEventStore;

  constructor(private readonly always: Partial<EmbeddedEventStoreOptions> = {}) {}

  async open(options: Partial<EmbeddedEventStoreOptions> = {}): Promise<EmbeddedEventStore> {
    this.directory = await mkdtemp(join(tmpdir(), 'event-store-'));
    return (this.store = EmbeddedEventStore.open({ directory: this.directory, ...this.always, ...options }));
  }

  async reopen(options: Partial<EmbeddedEventStoreOptions> = {}): Promise<EmbeddedEventStore> {
    await this.store.close();
    return (this.store = EmbeddedEventStore.open({ directory: this.directory, ...options }));
  }

  /** No process has the log open any more. */
  async settle(): Promise<void> {
    await this.store.close();
  }

  async close(): Promise<void> {
    await this.store.close();
    await rm(this.directory, { recursive: true });
  }
}

/** Compresses every event as soon as possible, in small groups. */
export const COMPRESSED: Partial<EmbeddedEventStoreOptions> = { uncompressedEvents: 0, segmentEvents: 4 };

/** All faults in the log. */
export async function inspected(store: EmbeddedEventStore): Promise<LogFault[]> {
  const faults: LogFault[] = [];
  for (let after: string | null = null; ;) {
    const page = await store.inspect(after);
    faults.push(...page.faults);
    if (page.end !== null) return [...faults, ...page.end.faults];
    after = page.through;
  }
}

const WRITER = fileURLToPath(new URL('../../support/event-store-writer.ts', import.meta.url));
const TYPESCRIPT = new URL('../../support/typescript.js', import.meta.url).href;

export interface Writer {
  readonly child: ChildProcessByStdio<null, Readable, null>;
  /** The lines that the process has printed until now. */
  readonly said: (Acknowledged | Refused)[];
  /** Resolves when everything that the process printed before its end has been read. */
  readonly closed: Promise<void>;
}

/** Other processes that use the log of a harness. These processes end with the test. */
export class Writers {
  private readonly children: ChildProcess[] = [];

  constructor(
    private readonly harness: EmbeddedHarness,
    private readonly category: () => string,
  ) {}

  /** The child runs without Jest's options, because it does not need them. */
  start(command: string, ...args: readonly string[]): ChildProcessByStdio<null, Readable, null> {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    this.children.push(child);
    return child;
  }

  /** Another process that appends to the same directory. */
  startWriter(writers: number, appends: number, shell = 'exec "$@"', options: object = {}): Writer {
    const command = [
      process.execPath,
      '--import',
      TYPESCRIPT,
      WRITER,
      this.harness.directory,
      this.category(),
      String(writers),
      String(appends),
      JSON.stringify(options),
    ];
    const child = this.start('sh', '-c', shell, 'sh', ...command);
    const said: (Acknowledged | Refused)[] = [];
    const lines = createInterface(child.stdout);
    // A killed process may leave an incomplete line.
    lines.on('line', (line) => line.endsWith('}') && said.push(JSON.parse(line) as Acknowledged | Refused));
    return { child, said, closed: once(lines, 'close').then(() => undefined) };
  }

  async end(): Promise<void> {
    for (const child of this.children.splice(0)) await stop(child);
  }
}

/** Checks every rule of a log after any faults of its writers. */
export function expectSound(log: readonly RecordedEvent[], acknowledged: readonly Acknowledged[]): void {
  expect(log.map(({ position }) => Number(position))).toEqual(log.map((_event, index) => index + 1));
  const streams = byStream(log);
  for (const events of streams.values())
    expect(events.map(({ revision }) => revision)).toEqual(events.map((_event, index) => index));
  for (const { stream, revision, ids } of acknowledged) {
    const events = streams.get(stream)?.slice(revision + 1 - ids.length, revision + 1) ?? [];
    expect(events.map(({ id }) => id)).toEqual(ids);
  }
}

export function byStream(log: readonly RecordedEvent[]): Map<string, RecordedEvent[]> {
  const streams = new Map<string, RecordedEvent[]>();
  for (const event of log) {
    const events = streams.get(event.stream);
    if (events) events.push(event);
    else streams.set(event.stream, [event]);
  }
  return streams;
}

/** Kills the process, and resolves when it has ended. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

export async function until(holds: () => boolean, emitter: NodeJS.EventEmitter, event: string): Promise<void> {
  while (!holds()) await once(emitter, event);
}
