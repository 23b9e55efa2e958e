// The embedded event store when processes that write to it are killed.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import type { Acknowledged } from '../../support/event-store-writer.js';
import {
  byStream,
  COMPRESSED,
  EmbeddedHarness,
  expectSound,
  inspected,
  stop,
  until,
  Writers,
} from './embedded-harness.js';
import { newCategory, newEvents, readLog } from './suite.js';

describe('embedded event store', () => {
  const harness = new EmbeddedHarness();
  let category: string;
  const writers = new Writers(harness, () => category);

  beforeEach(() => {
    category = newCategory();
  });

  afterEach(async () => {
    await writers.end();
    await harness.close();
  });

  describe.each([
    ['', {}],
    [', both compressing', COMPRESSED],
  ])('with another process on the same directory%s', (_how, options) => {
    it('loses no acknowledged event of a killed writer, and other processes can write at once', async () => {
      let store = await harness.open(options);
      const acknowledged: Acknowledged[] = [];
      for (const enough of [1, 150, 400]) {
        const { child, said, closed } = writers.startWriter(16, 0, undefined, options);
        await until(() => said.length >= enough, child.stdout, 'data');
        await stop(child);
        await closed;
        acknowledged.push(...(said as Acknowledged[]));
        // The killed process may have had the write lock and a read transaction.
        const stream = `${category}-${newId()}`;
        const events = newEvents(2);
        expect(await store.append(stream, 'no-stream', events)).toEqual({ outcome: 'appended', revision: 1 });
        acknowledged.push({ stream, revision: 1, ids: events.map(({ id }) => id) });
        expectSound(await readLog(store, null, category), acknowledged);
      }
      store = await harness.reopen(options);
      const log = await readLog(store, null, category);
      expectSound(log, acknowledged);
      expect(await inspected(store)).toEqual([]);
      // Batches of two are complete, and the event that was appended together with each batch is stored too.
      const streams = byStream(log);
      const own = [...streams.keys()].filter((stream) => stream.startsWith(`${category}-own-`));
      for (const stream of own.filter((name) => !name.endsWith(':beside')))
        expect(streams.get(stream)).toHaveLength(2 * (streams.get(`${stream}:beside`)?.length ?? 0));
    });
  });
});
