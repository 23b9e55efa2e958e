// Where the subscription engine keeps what it has projected. Only `platform/subscriptions` and `ops` use it; whoever
// reads a document uses `ReadModels`.
import type { Projection } from '../kernel/projection.js';

/** A projection whose kind of document does not matter. */
export type AnyProjection = Projection<object, unknown>;

/** The generations of one projection version, by number. `live` is the one that is read; `building` is filled beside it. */
export interface Generations {
  readonly live: number | null;
  readonly building: number | null;
}

/** How far a generation has come. */
export interface Checkpoint {
  /** Null: nothing yet. */
  readonly position: string | null;
  /** Id of the first event of the log that the position belongs to; null while the log was empty. */
  readonly log: string | null;
}

/** A document as of a revision of its stream, by the state it was made of. */
export interface DocumentWrite {
  readonly id: string;
  readonly revision: number;
  readonly state: unknown;
  /** ISO 8601 UTC, of the event with that revision. */
  readonly occurredAt: string;
}

/** The checkpoint moves from `expected` to `next` in the same step as the last of the writes. */
export interface Commit {
  readonly expected: string | null;
  readonly next: string | null;
  readonly log: string | null;
  readonly writes: readonly DocumentWrite[];
}

/** Why the checkpoint of a commit did not move. */
export type CommitFault =
  /** The lease is not the writer's. */
  | 'fenced'
  /** The stored checkpoint is not the expected one: a repetition, a gap, or the store went back in time. */
  | 'moved'
  /** The generation is gone. */
  | 'missing';

/** What became of a rebuild. `differences` are ids that were not listed as the log says; null when nothing was compared. */
export interface RebuildReport {
  readonly projection: string;
  readonly generation: number;
  /** The request it answers; null when the engine found by itself that it was needed. */
  readonly request: string | null;
  /** Those that are in a list. */
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
 * A lease names the writer of a projection version, by a token. Whatever changes a generation looks at the lease in the same step, so
 * that a writer whose lease ran out while it slept changes nothing. Of a document its index entries are stored, and the revision that they are
 * of. The checkpoint of a commit moves with the last of its documents: of one that broke off some may be ahead of it, and are written
 * again. A document never goes back: a write with a revision that is not higher than the stored one is dropped without an error.
 *
 * Everything here may vanish at any time; `missing` and null say so. Throws Unavailable when it cannot be reached.
 */
export abstract class ProjectionStore {
  /**
   * Tells whenever what was committed may have gone back a little: the store came back from a crash, or another server took its
   * place. The answer ends it.
   */
  abstract onReturn(listener: () => void): () => void;

  /** Takes or keeps the lease; null while another process has it. */
  abstract lease(projection: AnyProjection, token: string, ttlMs: number): Promise<Lease | null>;

  /** Nothing happens when another process has the lease. */
  abstract releaseLease(projection: AnyProjection, token: string): Promise<void>;

  abstract generations(projection: AnyProjection): Promise<Generations>;

  /** Begins an empty generation, instead of one that is being built. With `keepLive` false the live one is gone at once. False when the lease is lost. */
  abstract beginGeneration(
    projection: AnyProjection,
    token: string,
    generation: number,
    keepLive: boolean,
  ): Promise<boolean>;

  /**
   * Makes the generation that has been built up to `through` the live one; the old one is gone. `behind` when the live one has come
   * further, or a commit came in between; `fenced` when the lease is lost or another one is being built.
   */
  abstract promote(
    projection: AnyProjection,
    token: string,
    through: string | null,
    report: RebuildReport,
  ): Promise<'promoted' | 'behind' | 'fenced'>;

  /** Lets what older versions have stored expire after a day. A process of such a version that is still at work keeps it. */
  abstract retireOlderVersions(projection: AnyProjection): Promise<void>;

  /** How far the generation has come; null when it is gone. */
  abstract checkpoint(projection: AnyProjection, generation: number): Promise<Checkpoint | null>;

  /** As `checkpoint`, for who goes on from there: keeps the generation where a newer version has let it expire. */
  abstract resume(projection: AnyProjection, generation: number): Promise<Checkpoint | null>;

  /** Null when it was taken. */
  abstract commit(
    projection: AnyProjection,
    token: string,
    generation: number,
    commit: Commit,
  ): Promise<CommitFault | null>;

  /** Takes documents out of their lists that have been in them for as long as `listedForDays` says. */
  abstract letOldEntriesLeave(projection: AnyProjection): Promise<void>;

  /** Number of listed documents of the live and the building generation. */
  abstract sizes(projection: AnyProjection): Promise<{ readonly live: number; readonly building: number }>;

  /**
   * Ids of documents that are listed otherwise by the live generation than by the one being built, at most `limit`, while both are
   * written. A document that is merely ahead on one side is looked at again until both have it at the same
   * revision, or a few seconds have passed.
   */
  abstract differences(projection: AnyProjection, limit: number): Promise<string[]>;

  /** Asks the process that holds the lease for a rebuild. */
  abstract requestRebuild(projection: AnyProjection, request: string): Promise<void>;

  /** The newest report; null when there was none. */
  abstract lastReport(projection: AnyProjection): Promise<RebuildReport | null>;
}
