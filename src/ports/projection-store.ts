// The storage that the subscription engine uses for its projections. Only `platform/subscriptions` and `ops` use it. Readers of documents use
// `ReadModels`.
import type { Projection } from '../kernel/projection.js';

/** A projection of any kind of document. */
export type AnyProjection = Projection<object, unknown>;

/** The generations of one projection version, by number. `live` is the generation that is read, and `building` is being filled. */
export interface Generations {
  readonly live: number | null;
  readonly building: number | null;
}

/** The progress of a generation. */
export interface Checkpoint {
  /** Null if no event was read yet. */
  readonly position: string | null;
  /** The id of the first event in the log to which the position belongs; null while the log was empty. */
  readonly log: string | null;
}

/** A document at a revision of its stream, with the state from which it was made. */
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
  /** The writer does not have the lease. */
  | 'fenced'
  /** The stored checkpoint is not the expected one: the commit is a repetition, events are missing, or the store was reset to an earlier state. */
  | 'moved'
  /** The generation does not exist any more. */
  | 'missing';

/** The result of a rebuild. `differences` are ids whose lists did not agree with the log; null if nothing was compared. */
export interface RebuildReport {
  readonly projection: string;
  readonly generation: number;
  /** The operator's request; null if the engine itself started the rebuild. */
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
 * A lease names the writer of a projection version by a token. Every change of a generation checks the lease in the same step. A writer whose lease
 * expired while it was suspended therefore changes nothing. The store contains the index entries of a document and their revision. The checkpoint of
 * a commit moves with the last of its documents. After a broken commit some documents may be ahead of the checkpoint, and are written again. A
 * document never returns to an earlier revision: a write without a higher revision is dropped without an error.
 *
 * All stored data may be lost at any time; the results `missing` and null report this. Throws Unavailable when the store cannot be reached.
 */
export abstract class ProjectionStore {
  /** Calls the listener when a crash or a change of the server may have lost commits. The returned function removes the listener. */
  abstract onReturn(listener: () => void): () => void;

  /** Takes or renews the lease; null while another process has it. */
  abstract lease(projection: AnyProjection, token: string, ttlMs: number): Promise<Lease | null>;

  /** Changes nothing if another process has the lease. */
  abstract releaseLease(projection: AnyProjection, token: string): Promise<void>;

  abstract generations(projection: AnyProjection): Promise<Generations>;

  /**
   * Begins an empty generation and removes a generation that is being built. With `keepLive` false, the live generation is removed at once. False
   * when the lease is lost.
   */
  abstract beginGeneration(
    projection: AnyProjection,
    token: string,
    generation: number,
    keepLive: boolean,
  ): Promise<boolean>;

  /**
   * The generation that was built up to `through` becomes the live generation, and the old generation is removed. `behind` when the live generation
   * is further, or a commit happened in between. `fenced` when the lease is lost or another generation is being built.
   */
  abstract promote(
    projection: AnyProjection,
    token: string,
    through: string | null,
    report: RebuildReport,
  ): Promise<'promoted' | 'behind' | 'fenced'>;

  /** Makes the data of older versions expire after a day. A process of an older version that still runs keeps its data. */
  abstract retireOlderVersions(projection: AnyProjection): Promise<void>;

  /** The progress of the generation; null if the generation does not exist any more. */
  abstract checkpoint(projection: AnyProjection, generation: number): Promise<Checkpoint | null>;

  /** Like `checkpoint`, for a writer that continues from it. Keeps the generation if a newer version has set an expiry for it. */
  abstract resume(projection: AnyProjection, generation: number): Promise<Checkpoint | null>;

  /** Null if the commit was accepted. */
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
   * that is only ahead in one generation is checked again until both have the same revision or a few seconds have passed.
   */
  abstract differences(projection: AnyProjection, limit: number): Promise<string[]>;

  /** Requests a rebuild from the process that has the lease. */
  abstract requestRebuild(projection: AnyProjection, request: string): Promise<void>;

  /** The newest report; null if none exists. */
  abstract lastReport(projection: AnyProjection): Promise<RebuildReport | null>;
}
