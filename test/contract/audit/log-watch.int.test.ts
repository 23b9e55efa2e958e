// The service reports a log that lost events or was replaced, and an operator can accept such a log.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { open } from 'lmdb';
import { ReplacedFile } from '../../../src/adapters/durable-files.js';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { RefusingEventStore } from '../../../src/adapters/event-store/refusing.js';
import { LogWatch, NotAcceptable } from '../../../src/platform/audit/log-watch.js';
import type { Log } from '../../../src/platform/observability/log.js';
import { LogRefused } from '../../../src/ports/event-store.js';
import { EventStoreDecorator } from '../../../src/ports/event-store-decorator.js';
import { anEvent } from '../../bench/event-store.js';

describe('the watch over the log', () => {
  let folder: string;
  let store: EmbeddedEventStore;
  let told: string[];
  let streams = 0;

  const events = (): string => join(folder, 'events');
  const file = (): string => join(folder, 'log-watch.json');
  const watching = (): LogWatch => new LogWatch(store, 'embedded', new ReplacedFile(file()), log);
  const log = {
    error: ({ complaint }: { complaint?: string }) => complaint !== undefined && told.push(complaint),
    info: () => told.push('right'),
    warn: () => told.push('unwritten'),
  } as unknown as Log;
  const beyond = (follower: string): string => `The log does not go as far as ${follower} has followed it.`;
  const appendOne = async (): Promise<void> =>
    void (await store.append(`bench-${streams++}`, 'no-stream', [anEvent()]));

  async function withoutStore(change: () => void | Promise<void>): Promise<void> {
    await store.close();
    await change();
    store = EmbeddedEventStore.open({ directory: events() });
  }

  async function append(count: number): Promise<void> {
    for (let n = 0; n < count; n++) await appendOne();
  }

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'log-watch-'));
    store = EmbeddedEventStore.open({ directory: events() });
    told = [];
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it('reports no fault when a log grows, is empty, or is new in its folder', async () => {
    const watch = watching();
    await watch.look();
    await append(2);
    await watch.look();
    await append(2);
    await watch.look();
    await watching().look();
    expect([watch.complaint, told]).toEqual([null, []]);
    await expect(watch.accept('root', 'for no reason', new Date())).rejects.toThrow(NotAcceptable);
  });

  it('reports a log that ended too early until an operator accepts it with a reason, even after new events', async () => {
    await append(2);
    await store.close();
    cpSync(events(), join(folder, 'older'), { recursive: true });
    store = EmbeddedEventStore.open({ directory: events() });
    await append(3);
    await watching().look();
    await withoutStore(() => {
      rmSync(events(), { recursive: true });
      cpSync(join(folder, 'older'), events(), { recursive: true });
    });
    const complaint = `The log ends at position ${'2'.padStart(20, '0')}, but went to ${'5'.padStart(20, '0')} when it was last seen.`;
    const watch = watching();
    await watch.look();
    await append(10);
    await watch.look();
    expect([watch.complaint, told]).toEqual([complaint, [complaint]]);

    const later = watching();
    await later.look();
    expect(later.complaint).toBe(complaint);
    // Another process accepts the log, like an operator command.
    const acceptance = await watching().accept('root', 'the backup of Monday', new Date('2026-01-02T03:04:05.678Z'));
    expect(acceptance).toMatchObject({
      at: '2026-01-02T03:04:05.678Z',
      by: 'root',
      reason: 'the backup of Monday',
      complaint,
      seenBefore: { position: '5'.padStart(20, '0') },
      found: { position: '12'.padStart(20, '0') },
    });
    await watch.look();
    expect([watch.complaint, told.at(-1)]).toEqual([null, 'right']);
    await append(1);
    await watch.look();
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toMatchObject({
      seen: { position: '13'.padStart(20, '0') },
      complaint: null,
      accepted: [acceptance],
    });
  });

  it.each([
    ['is empty', async () => undefined, 'The log is empty'],
    ['is another one', appendOne, 'it begins with another event'],
  ])('reports that the log %s', async (_what, change, sentence) => {
    await append(1);
    await watching().look();
    await withoutStore(() => rmSync(events(), { recursive: true }));
    await change();
    const watch = watching();
    await watch.look();
    expect(watch.complaint).toContain(sentence);
  });

  it('refuses appends until an operator accepts the log, even in a process that has not checked the log before', async () => {
    await append(2);
    await watching().look();
    await withoutStore(() => rmSync(events(), { recursive: true }));
    const watch = watching();
    const refusing = new RefusingEventStore(store, () => watch.refusal());
    await expect(refusing.append('bench-x', 'no-stream', [anEvent()])).rejects.toThrow(LogRefused);
    const together = [{ stream: 'bench-x', expected: 'no-stream' as const, events: [anEvent()] }];
    await expect(refusing.appendTogether(together)).rejects.toThrow('The log is empty');
    expect(await store.head()).toBeNull();
    await watching().accept('root', 'a new log', new Date());
    await watch.look();
    expect(await refusing.append('bench-x', 'no-stream', [anEvent()])).toMatchObject({ outcome: 'appended' });
  });

  it('records the end of the log, in either store, when a process that appended stops; a process without appends records nothing', async () => {
    class Elsewhere extends EventStoreDecorator {}
    const inCluster = (): LogWatch => new LogWatch(new Elsewhere(store), 'eventstoredb', new ReplacedFile(file()), log);
    await append(2);
    await inCluster().leave();
    expect(readdirSync(folder)).toEqual(['events']);
    const watch = inCluster();
    await new RefusingEventStore(store, () => watch.refusal()).append('bench-y', 'no-stream', [anEvent()]);
    await watch.leave();
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toMatchObject({
      seen: { store: 'eventstoredb', position: '3'.padStart(20, '0') },
    });
    await withoutStore(() => rmSync(events(), { recursive: true }));
    await append(1);
    const compared = await inCluster().compare();
    expect([compared?.complaint, JSON.parse(readFileSync(file(), 'utf8')).complaint]).toEqual([
      expect.stringContaining('begins with another event'),
      null,
    ]);
  });

  it('reports missing events, and no operator can accept them', async () => {
    await append(5);
    await withoutStore(async () => {
      const root = open({
        path: join(events(), 'events.mdb'),
        noSubdir: true,
        maxDbs: 8,
        encoding: 'binary',
        keyEncoding: 'binary',
      });
      root
        .openDB({ name: 'events', encoding: 'binary', keyEncoding: 'binary' })
        .removeSync(Buffer.from('0000000000000003', 'hex') as never);
      await root.close();
    });
    const watch = watching();
    await watch.look();
    expect(watch.complaint).toBe(
      'The log has 1 events too few for its last position; `ops audit verify` names the places.',
    );
    await expect(watch.accept('root', 'never mind', new Date())).rejects.toThrow('Restore a backup');
  });

  it('keeps the fault that a reader of the log reported, and the next start reports it again', async () => {
    await append(1);
    await watching().report('report_credit');
    const next = watching();
    await next.look();
    expect([next.complaint, told]).toEqual([beyond('report_credit'), [next.complaint, next.complaint]]);
  });

  it('reports no fault after an operator has accepted the faults that several reading processes found', async () => {
    await append(1);
    const watch = watching();
    await Promise.all(['one', 'another', 'a third'].map((follower) => watch.report(follower)));
    await watch.report('a fourth');
    await watching().accept('root', 'a new log', new Date());
    await watch.look();
    await watch.look();
    expect([watch.complaint, told]).toEqual([null, [beyond('one'), 'right']]);
  });

  it.each(['', '{"seen":', '[]', 'null'])(
    'reports a file that holds %j as a fault, and leaves the file unchanged until an operator accepts the log',
    async (content) => {
      await append(1);
      writeFileSync(file(), content);
      const watch = watching();
      await watch.look();
      expect([watch.complaint, readFileSync(file(), 'utf8')]).toEqual([
        expect.stringContaining('cannot be read'),
        content,
      ]);
      await watching().accept('root', 'the disk was full', new Date());
      await watch.look();
      expect([watch.complaint, readdirSync(folder)]).toEqual([null, ['events', 'log-watch.json']]);
    },
  );

  it('keeps every fault, acceptance and position when another process writes at the same moment', async () => {
    await append(1);
    const shared = new ReplacedFile(file());
    /** Another process writes the file between the read and the write of this process. */
    const meanwhile = (change: () => Promise<unknown>): LogWatch => {
      let first = true;
      const replace = async (before: string | null, content: string): Promise<boolean> => {
        if (first) {
          first = false;
          await change();
        }
        return shared.replace(before, content);
      };
      return new LogWatch(store, 'embedded', { read: () => shared.read(), replace }, log);
    };
    const overtaken = meanwhile(() => watching().report('another'));
    await overtaken.look();
    expect([overtaken.complaint, JSON.parse(readFileSync(file(), 'utf8'))]).toEqual([
      beyond('another'),
      expect.objectContaining({ complaint: beyond('another') }),
    ]);

    await watching().accept('root', 'one', new Date());
    await append(1);
    await meanwhile(async () => {
      await append(1);
      await watching().look();
    }).look();
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toMatchObject({
      seen: { position: '3'.padStart(20, '0') },
      complaint: null,
      accepted: [{ reason: 'one' }],
    });
  });

  it('keeps a fault in memory when the file cannot be written', async () => {
    await append(1);
    const unwritable = new LogWatch(
      store,
      'embedded',
      new ReplacedFile(join(folder, 'nowhere', 'log-watch.json')),
      log,
    );
    await unwritable.report('report_credit');
    await unwritable.look();
    expect([unwritable.complaint, told]).toEqual([beyond('report_credit'), ['unwritten', beyond('report_credit')]]);
  });
});
