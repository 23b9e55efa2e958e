// Changes an embedded log on disk like an attacker: with the database library, and without a trace in the log itself.
import { join } from 'node:path';
import { type Database, open } from 'lmdb';

type Bytes = Buffer<ArrayBufferLike>;

export interface StoredEvent {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: any;
}

/**
 * Removes all other events from a log that no process has open. The function closes the gaps, and all indexes agree.
 * `newest` counts from 1, from the end. When an event of a stream is removed, all later events of the stream must be
 * removed too. Returns the removed events.
 */
export async function rewriteLog(
  folder: string,
  keeps: (event: StoredEvent, newest: number) => boolean,
): Promise<StoredEvent[]> {
  const root = open<Bytes, Bytes>({
    path: join(folder, 'events.mdb'),
    noSubdir: true,
    maxDbs: 8,
    encoding: 'binary',
    keyEncoding: 'binary',
  });
  const tree = (name: string): Database<Bytes, Bytes> =>
    root.openDB<Bytes, Bytes>({ name, encoding: 'binary', keyEncoding: 'binary' });
  const [events, positions, heads, ids] = ['events', 'positions', 'heads', 'ids'].map(tree) as [
    Database<Bytes, Bytes>,
    Database<Bytes, Bytes>,
    Database<Bytes, Bytes>,
    Database<Bytes, Bytes>,
  ];
  const all = [...events.getRange({})].map(({ value }) => ({
    text: Buffer.from(value),
    event: JSON.parse(value.toString()) as StoredEvent,
  }));
  const gone: StoredEvent[] = [];
  root.transactionSync(() => {
    for (const each of [events, positions, heads, ids])
      for (const key of [...each.getKeys()].map((found) => Buffer.from(found))) each.removeSync(key);
    let position = 0;
    for (const [index, { text, event }] of all.entries()) {
      if (!keeps(event, all.length - index)) {
        gone.push(event);
        continue;
      }
      const stream = Buffer.from(event.stream);
      events.putSync(key(++position), text);
      positions.putSync(Buffer.concat([stream, key(event.revision)]), key(position));
      ids.putSync(Buffer.concat([stream, Buffer.from(event.id.replaceAll('-', ''), 'hex')]), key(event.revision));
      heads.putSync(stream, key(event.revision));
    }
  });
  await root.close();
  return gone;
}

function key(number: number): Bytes {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(number));
  return bytes;
}
