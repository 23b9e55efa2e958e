// The storage of the subscription engine for its projections. Only `platform/subscriptions` and `ops` use it. Readers of documents use `ReadModels`.
import type { Projection } from '../kernel/projection.js';

/** A projection of any kind of document. */
export type AnyProjection = Projection<object, unknown>;

/** The generations of one projection version, by number. `live` is the one that is read, and `building` is filled beside it. */
export interface Generations {
  readonly live: number | null;
  readonly building: number | null;
}

/** The progress of a generation. */
export interface Checkpoint {
  /** Null: nothing yet. */
  readonly position: string | null;
  /** The id of the first event in the log of the position; null while the log was empty. */
  readonly log: string | null;
}

/** A document as of a revision of its stream, with the state behind it. */
export interface DocumentWrite {
  readonly id: string;
  readonly revision: number;
  readonly state: unknown;
  /** The time of the event with that revision, ISO 8601 UTC. */
  readonly occurredAt: string;
}

/** The checkpoint moves from `expected` to `next` in the same step as the last of the writes. */
export interface Commit {
  readonly expected: string | null;
  readonly next: string | null;
  readonly log: string | null;
  readonly writes: readonly DocumentWrite[];
}

/** The reasons why the checkpoint of a commit did not move. */
export type CommitFault =
  /** The writer does not hold the lease. */
  | 'fenced'
  /** The stored checkpoint is not the expected one: a repetition, a gap, or the store went back in time. */
  | 'moved'
  /** The generation is gone. */
  | 'missing';

/** The result of a rebuild. `differences` are ids whose lists did not agree with the log; null when nothing was compared. */
export interface RebuildReport {
  readonly projection: string;
  readonly generation: number;
  /** The operator's request; null when the engine itself found the need. */
  readonly request: string | null;
  /** The number of documents that are in a list. */
  readonly documents: number;
  readonly differences: readonly string[] | null;
  readonly finishedAt: string;
}

export interface Lease {
  readonly generations: Generations;
  /** An operator's request to rebuild, by its id. */
  readonly rebuildRequest: string | null;
}

/**
 * Keeps projections for the one process at a time that writes them.
 *
 * A lease names the writer of a projection version, by a token. Every change of a generation checks the lease in the same step. So a writer whose
 * lease ran out while it slept changes nothing. The store holds the index entries of a document and their revision. The checkpoint of a commit moves
 * with the last of its documents. After a broken commit some documents may be ahead of the checkpoint, and are written again. A document never goes
 * back: a write without a higher revision is dropped without an error.
 *
 * All stored data may vanish at any time; the results `missing` and null then say so. Throws Unavailable when it cannot be reached.
 */
export abstract class ProjectionStore {
  /** Calls the listener when commits may have been lost by a crash or a change of the server. The returned function ends it. */
  abstract onReturn(listener: () => void): () => void;

  /** Takes or keeps the lease; null while another process has it. */
  abstract lease(projection: AnyProjection, token: string, ttlMs: number): Promise<Lease | null>;

  /** Changes nothing when another process has the lease. */
  abstract releaseLease(projection: AnyProjection, token: string): Promise<void>;

  abstract generations(projection: AnyProjection): Promise<Generations>;

  /**
   * Begins an empty generation and drops one that is being built. With `keepLive` false the live one is gone at once. False when the lease is lost.
   */
  abstract beginGeneration(
    projection: AnyProjection,
    token: string,
    generation: number,
    keepLive: boolean,
  ): Promise<boolean>;

  /**
   * The generation that was built up to `through` becomes the live one, and the old one is removed. `behind` when the live one is further, or a
   * commit came in between. `fenced` when the lease is lost or another generation is being built.
   */
  abstract promote(
    projection: AnyProjection,
    token: string,
    through: string | null,
    report: RebuildReport,
  ): Promise<'promoted' | 'behind' | 'fenced'>;

  /** Lets the data of older versions expire after a day. A process of such a version that still works keeps it. */
  abstract retireOlderVersions(projection: AnyProjection): Promise<void>;

  /** The progress of the generation; null when it is gone. */
  abstract checkpoint(projection: AnyProjection, generation: number): Promise<Checkpoint | null>;

  /** As `checkpoint`, for a writer that continues from there. Keeps the generation if a newer version has let it expire. */
  abstract resume(projection: AnyProjection, generation: number): Promise<Checkpoint | null>;

  /** Null when the commit was accepted. */
  abstract commit(
    projection: AnyProjection,
    token: string,
    generation: number,
    commit: Commit,
  ): Promise<CommitFault | null>;

  /** Removes documents from their lists after `listedForDays`. */
  abstract letOldEntriesLeave(projection: AnyProjection): Promise<void>;

  /** The number of listed documents of the live and the building generation. */
  abstract sizes(projection: AnyProjection): Promise<{ readonly live: number; readonly building: number }>;

  /**
   * The ids of documents that the live generation lists differently from the one being built, at most `limit`, while both are written. A document
   * that is only ahead on one side is checked again until both have the same revision or a few seconds have passed.
   */
  abstract differences(projection: AnyProjection, limit: number): Promise<string[]>;

  /** Asks the process that holds the lease for a rebuild. */
  abstract requestRebuild(projection: AnyProjection, request: string): Promise<void>;

  /** The newest report; null without one. */
  abstract lastReport(projection: AnyProjection): Promise<RebuildReport | null>;
}
