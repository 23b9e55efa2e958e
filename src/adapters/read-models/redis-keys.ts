// Names of everything the read models keep in Redis, and the text form of what lies under them.
import type { AnyProjection, Generations, StoredDocument } from '../../ports/projection-store.js';
import { SHARDS } from '../../ports/projection-store.js';

/** The four keys of one shard, in the order the scripts take them. All share a hash tag, so a script touches one slot of a cluster. */
export type ShardKeys = readonly [state: string, docs: string, index: string, due: string];

export interface GenerationKeys {
  readonly shards: readonly ShardKeys[];
  /** The documents of each shard once more, for the read path. */
  readonly docs: readonly string[];
}

/** Keys of one projection version. */
export class ProjectionKeys {
  readonly pointer: string;
  readonly lease: string;
  readonly fence: string;
  /** Generations that may still have keys. */
  readonly known: string;
  readonly request: string;
  readonly report: string;
  private readonly name: string;
  private readonly made = new Map<number, GenerationKeys>();

  constructor(projection: Pick<AnyProjection, 'name' | 'version'>) {
    this.name = `${projection.name}:v${projection.version}`;
    this.pointer = `{${this.name}}:generations`;
    this.lease = `{${this.name}}:lease`;
    this.fence = `{${this.name}}:fence`;
    this.known = `{${this.name}}:known`;
    this.request = `{${this.name}}:rebuild`;
    this.report = `{${this.name}}:report`;
  }

  generation(generation: number): GenerationKeys {
    let keys = this.made.get(generation);
    if (!keys) {
      const shards = Array.from({ length: SHARDS }, (_, shard): ShardKeys => {
        const tag = `{${this.name}.${generation}:${shard}}`;
        return [`${tag}:state`, `${tag}:docs`, `${tag}:index`, `${tag}:due`];
      });
      keys = { shards, docs: shards.map(([, docs]) => docs) };
      // A process sees a handful of generations in its life; only a fault could make it more.
      if (this.made.size > 8) this.made.clear();
      this.made.set(generation, keys);
    }
    return keys;
  }
}

export function pointerText({ live, building }: Generations): string {
  return `${live ?? '-'} ${building ?? '-'}`;
}

/** A missing pointer means that there is no generation at all. */
export function parsePointer(text: string | null): Generations {
  const [live = '-', building = '-'] = text === null ? [] : text.split(' ');
  return { live: live === '-' ? null : Number(live), building: building === '-' ? null : Number(building) };
}

/** A document as the scripts take it; stored is `<revision> <document as JSON>`, so that they compare revisions without reading JSON. */
export function documentFields(projection: AnyProjection, id: string, revision: number, doc: object): string[] {
  const dueAt = projection.dueAt?.(doc) ?? null;
  const due = dueAt === null ? '' : String(Date.parse(dueAt));
  if (due === 'NaN') throw new Error(`${projection.name} is due at something that is no time`);
  const lists = projection.indexes?.(doc) ?? [];
  return [
    id,
    String(revision),
    `${revision} ${JSON.stringify(doc)}`,
    due,
    String(lists.length),
    ...lists.map((index) => membership(index, id)),
  ];
}

/** Null for what cannot be read; documents are disposable, so that is as good as missing. */
export function parseDocument(text: string): StoredDocument | null {
  const space = text.indexOf(' ');
  const revision = Number(text.slice(0, space));
  if (space < 1 || !Number.isInteger(revision)) return null;
  try {
    return { revision, doc: JSON.parse(text.slice(space + 1)) as object };
  } catch {
    return null;
  }
}

/** Member of a shard's one sorted set of lists; equal scores sort by bytes, so the ids of a list lie together and in order. */
export function membership(index: string, id: string): string {
  if (index.includes(' ')) throw new Error(`The name of a list holds a space: ${index}`);
  return `${index} ${id}`;
}
