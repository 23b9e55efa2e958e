// The event log of the anchor, written directly on LMDB. Waiting writes share one transaction, which is synced before
// they resolve.
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Database, open, type RootDatabase } from 'lmdb';
import { newId } from '../../../src/kernel/ids.js';

/** The last event of a stream. The next event is chained to it. */
export interface StreamEnd {
  readonly revision: number;
  readonly hash: string;
}

export interface Fact {
  readonly type: string;
  readonly data: object;
}

interface Write {
  apply(): void;
  done(): void;
  failed(error: Error): void;
}

const MAX_GROUP = 512;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class AnchorLog {
  private readonly waiting: Write[] = [];
  private writing = false;
  private position = 0;
  private readonly key = randomBytes(32);

  private constructor(
    root: RootDatabase,
    private readonly events: Database<string, number>,
    private readonly positions: Database<number, [stream: string, revision: number]>,
    private readonly heads: Database<number, string>,
    private readonly ids: Database<number, [stream: string, id: string]>,
    private readonly secrets: Database<Buffer, string>,
  ) {
    this.transaction = (section) => root.transaction(section);
    for (const last of events.getKeys({ reverse: true, limit: 1 })) this.position = last;
  }

  private readonly transaction: (section: () => void) => Promise<void>;

  /** The log has the settings of the service's log: an event becomes visible when it is durable. */
  static open(path: string): AnchorLog {
    const root = open({ path, noSubdir: true, maxDbs: 8, overlappingSync: false, eventTurnBatching: false });
    return new AnchorLog(
      root,
      root.openDB<string, number>({ name: 'events', encoding: 'string' }),
      root.openDB({ name: 'positions' }),
      root.openDB({ name: 'heads' }),
      root.openDB({ name: 'ids' }),
      root.openDB<Buffer, string>({ name: 'secrets', encoding: 'binary' }),
    );
  }

  beginningOf(stream: string): StreamEnd {
    return { revision: -1, hash: hash('sha256', stream) };
  }

  endOf(stream: string): StreamEnd {
    const revision = this.heads.get(stream);
    if (revision === undefined) return this.beginningOf(stream);
    const text = this.events.get(this.positions.get([stream, revision]) ?? 0) ?? '';
    return { revision, hash: (JSON.parse(text) as { chain: StreamEnd }).chain.hash };
  }

  /** Resolves with the new end of the stream when the events are durable. */
  async append(stream: string, end: StreamEnd, facts: readonly Fact[]): Promise<StreamEnd> {
    let { revision, hash: prev } = end;
    const occurredAt = new Date().toISOString();
    const events = facts.map(({ type, data }) => {
      revision += 1;
      const metadata = { ...METADATA, occurredAt, $correlationId: stream, $causationId: stream };
      const content = { id: newId(), type, stream, revision, data, metadata };
      const link = hash('sha256', JSON.stringify({ ...content, prev }));
      const text = JSON.stringify({ ...content, chain: { alg: 'sha-256', prev, hash: link } });
      prev = link;
      return { id: content.id, revision, text };
    });
    let stands = false;
    await this.write(() => {
      stands = (this.heads.get(stream) ?? -1) === end.revision;
      if (!stands) return;
      for (const event of events) {
        const position = ++this.position;
        this.events.putSync(position, event.text, { append: true });
        this.positions.putSync([stream, event.revision], position);
        this.ids.putSync([stream, event.id], event.revision);
      }
      this.heads.putSync(stream, revision);
    });
    if (!stands) throw new Error(`${stream} does not end at revision ${end.revision}`);
    return { revision, hash: prev };
  }

  /** Resolves when the text is durable. The text is encrypted by AES-256-GCM and bound to its name. */
  async keepSecret(name: string, text: string): Promise<void> {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce);
    cipher.setAAD(Buffer.from(name));
    const body = cipher.update(text, 'utf8');
    cipher.final();
    const sealed = Buffer.concat([nonce, cipher.getAuthTag(), body]);
    await this.write(() => this.secrets.putSync(name, sealed));
  }

  secret(name: string): string {
    const sealed = this.secrets.get(name);
    if (sealed === undefined) throw new Error(`There is no secret ${name}`);
    const decipher = createDecipheriv('aes-256-gcm', this.key, sealed.subarray(0, NONCE_BYTES));
    decipher.setAAD(Buffer.from(name));
    decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  }

  private write(apply: () => void): Promise<void> {
    return new Promise((done, failed) => {
      this.waiting.push({ apply, done, failed });
      if (!this.writing) void this.writeWaiting();
    });
  }

  private async writeWaiting(): Promise<void> {
    this.writing = true;
    await nextTurn();
    while (this.waiting.length > 0) {
      const group = this.waiting.splice(0, MAX_GROUP);
      try {
        await this.transaction(() => {
          for (const { apply } of group) apply();
        });
        for (const { done } of group) done();
      } catch (error) {
        for (const { failed } of group) failed(error as Error);
      }
    }
    this.writing = false;
  }
}

/** Metadata about as large as the metadata that the service records with each event. */
const METADATA = {
  schemaVersion: 1,
  accountId: newId(),
  environment: 'test',
  actor: { kind: 'platform-token', id: newId() },
};
