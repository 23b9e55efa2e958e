// Where the subscription engine keeps what it has projected. Only `platform/subscriptions` and `ops` use it; whoever
// reads a document uses `ReadModels`.
import type { Projection } from '../kernel/projection.js';

/** A projection whose kind of document does not matter. */
export type AnyProjection = Projection<object>;

/** Documents are spread over this many shards by their id; each shard changes atomically and has its own checkpoint. */
export const SHARDS = 16;

/** FNV-1a over the UTF-16 units of a document's id. Stored data depends on it: it never changes. */
export function shardOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  return (hash ^ (hash >>> 16)) & (SHARDS - 1);
}

/**
 * The generations of one projection version. `live` is the one that is read; `building` is filled beside it. Numbers are
 * never used twice, not even after everything was lost.
 */
export interface Generations {
  readonly live: number | null;
  readonly building: number | null;
}

/** How far one shard of a generation has come. */
export interface Checkpoint {
  /** Null: nothing yet. */
  readonly position: string | null;
  /** Id of the first event of the log that the position belongs to; null while the log was empty. */
  readonly log: string | null;
}

export interface StoredDocument {
  readonly revision: number;
  readonly doc: object;
}

export interface DocumentWrite extends StoredDocument {
  readonly id: string;
}

/** What one shard becomes: its checkpoint moves from `expected` to `next` in the same step as the writes. */
export interface ShardCommit {
  readonly shard: number;
  readonly expected: string | null;
  readonly next: string | null;
  readonly log: string | null;
  readonly writes: readonly DocumentWrite[];
}

/** Why a shard took nothing of a commit. */
export type CommitFault =
  /** Somebody with a newer fencing number has taken over. */
  | 'fenced'
  /** The stored checkpoint is not the expected one: a repetition, a gap, or the store went back in time. */
  | 'moved'
  /** The shard is gone. */
  | 'missing';

/** Order-independent summary of a generation; equal for equal contents. */
export interface Fingerprint {
  readonly documents: number;
  readonly memberships: number;
  readonly due: number;
  readonly digest: string;
}

/** What became of a rebuild. `differences` are ids whose document was not what the log says; null when nothing was compared. */
export interface RebuildReport {
  readonly projection: string;
  readonly generation: number;
  /** The request it answers; null when the engine found by itself that it was needed. */
  readonly request: string | null;
  readonly documents: number;
  readonly digest: string;
  readonly differences: readonly string[] | null;
  readonly finishedAt: string;
}

export interface LeaseState {
  readonly held: boolean;
  readonly generations: Generations;
  /** An operator's request to rebuild, by its id. */
  readonly rebuildRequest: string | null;
}

/**
 * Keeps projections for the one process at a time that writes them.
 *
 * A lease names the writer of a projection version. Its fencing number only ever rises; a shard remembers the number it
 * was claimed with and takes commits under that number only, so that a writer whose lease ran out while it slept changes
 * nothing. A commit is atomic per shard: documents, lists, due times and checkpoint together or not at all. A document
 * never goes back: a write with a revision that is not higher than the stored one is dropped without an error.
 *
 * Everything here may vanish at any time; `missing` and null say so. Throws ReadModelsUnavailable when it cannot be reached.
 */
export abstract class ProjectionStore {
  /**
   * Tells whenever what was committed may have gone back a little: the store came back from a crash, or another server took its
   * place. The answer ends it.
   */
  abstract onReturn(listener: () => void): () => void;

  /** A new fencing number, or null while somebody else holds the lease. */
  abstract acquireLease(projection: AnyProjection, holder: string, ttlMs: number): Promise<number | null>;

  abstract renewLease(projection: AnyProjection, fence: number, ttlMs: number): Promise<LeaseState>;

  /** Nothing happens when the lease is somebody else's. */
  abstract releaseLease(projection: AnyProjection, fence: number): Promise<void>;

  abstract generations(projection: AnyProjection): Promise<Generations>;

  /**
   * Prepares an empty generation and names it as the one being built, instead of `from`. With `keepLive` false readers
   * stop trusting the live one at once. Null when the lease is lost or the generations are no longer `from`.
   */
  abstract beginGeneration(
    projection: AnyProjection,
    fence: number,
    from: Generations,
    keepLive: boolean,
  ): Promise<Generations | null>;

  /** Makes `from.building` the live one. False when the lease is lost or the generations are no longer `from`. */
  abstract flip(projection: AnyProjection, fence: number, from: Generations, report: RebuildReport): Promise<boolean>;

  /** Lets every generation but those named expire after a day; once there is a live one, also those of older versions. */
  abstract retireOthers(projection: AnyProjection, kept: Generations): Promise<void>;

  /** Takes every shard over: the checkpoints by shard, 'fenced' when a newer writer was there, 'missing' when any shard is gone. */
  abstract claim(
    projection: AnyProjection,
    generation: number,
    fence: number,
  ): Promise<readonly Checkpoint[] | 'fenced' | 'missing'>;

  /** How far each shard has come, for whoever only looks; a shard that is gone has come nowhere. */
  abstract checkpoints(projection: AnyProjection, generation: number): Promise<readonly Checkpoint[]>;

  /** The stored documents among these ids. */
  abstract documents(
    projection: AnyProjection,
    generation: number,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, StoredDocument>>;

  /** Commits each shard by itself; null when all took it, otherwise why the first that did not refused. */
  abstract commit(
    projection: AnyProjection,
    generation: number,
    fence: number,
    commits: readonly ShardCommit[],
  ): Promise<CommitFault | null>;

  /** Reads a whole generation, in small steps. Exact only while nobody writes. */
  abstract fingerprint(projection: AnyProjection, generation: number): Promise<Fingerprint>;

  /**
   * Ids of documents that differ between two generations that both are written, at most `limit`. A document that is
   * merely ahead on one side is looked at again until both have it at the same revision, or a few seconds have passed.
   */
  abstract differences(projection: AnyProjection, one: number, other: number, limit: number): Promise<string[]>;

  /** Asks the process that holds the lease for a rebuild. */
  abstract requestRebuild(projection: AnyProjection, request: string): Promise<void>;

  /** The newest report; null when there was none. */
  abstract lastReport(projection: AnyProjection): Promise<RebuildReport | null>;
}
