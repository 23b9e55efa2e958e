// Walks through an embedded log with several threads, which get the ranges in turn. Results are returned in the order of the log.
import { on } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { LogFault } from '../ports/inspectable-log.js';
import type { RecordedEvent } from '../kernel/domain-event.js';
import type { LogRange, WalkedPage } from '../platform/audit/walk.js';

export interface VerifyThreadData {
  readonly directory: string;
  readonly mapSizeBytes: number;
  readonly chosenTypes: ReadonlySet<string>;
}

/**
 * The number of positions in a range. The number is small enough to limit the results of one range, and large enough to make searches before its
 * start rare.
 */
const RANGE = 10_000;
/** The number of ranges that each thread has before its first result is read, so that it never waits. */
const AHEAD = 2;
const THREAD = new URL('./verify-thread.js', import.meta.url);

/** The positions after `since` in ranges, of which the last has no end. Returns a single range when threads would cost more time than they save. */
export function rangesOf(since: string | null, head: string | null, positions = RANGE): LogRange[] {
  const ranges: LogRange[] = [];
  let after = since;
  for (let until = Number(since) + positions; until < Number(head); until += positions) {
    const text = String(until).padStart(20, '0');
    ranges.push({ after, until: text });
    after = text;
  }
  return [...ranges, { after, until: null }];
}

export async function* walkInThreads(
  ranges: readonly LogRange[],
  data: VerifyThreadData,
  threadFile = THREAD,
): AsyncGenerator<WalkedPage, void, undefined> {
  const threads = Array.from(
    { length: Math.min(availableParallelism(), ranges.length) },
    () => new Worker(threadFile, { workerData: data }),
  );
  const answers = threads.map((thread) => on(thread, 'message', { close: ['exit'] }));
  const exits = threads.map((thread) => new Promise((resolve) => thread.once('exit', resolve)));
  let handedOut = 0;
  const handOut = (): void => {
    const range = ranges[handedOut];
    if (range !== undefined) threads[handedOut++ % threads.length]?.postMessage(range);
  };
  try {
    for (let count = 0; count < threads.length * AHEAD; count++) handOut();
    for (const place of ranges.keys()) {
      const answer = await answers[place % threads.length]?.next();
      if (answer === undefined || answer.done) throw new Error('A thread ended before its work was done');
      handOut();
      yield (answer.value as [WalkedPage])[0];
    }
  } finally {
    for (const thread of threads) thread.postMessage(null);
    await Promise.all(exits);
  }
}

/** Merges all pages of a range into one. */
export async function together(pages: AsyncIterable<WalkedPage>): Promise<WalkedPage> {
  let [events, streams, brokenLinks] = [0, 0, 0];
  let [through, end]: [WalkedPage['through'], WalkedPage['end']] = [null, null];
  const faults: LogFault[] = [];
  const chosen: RecordedEvent[] = [];
  for await (const page of pages) {
    events += page.events;
    streams += page.streams;
    brokenLinks += page.brokenLinks;
    faults.push(...page.faults);
    chosen.push(...page.chosen);
    ({ through, end } = page);
  }
  return { events, streams, brokenLinks, faults, chosen, through, end };
}
