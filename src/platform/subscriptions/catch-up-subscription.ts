import { setImmediate as nextTurn } from 'node:timers/promises';
import { categoryOf, type RecordedEvent } from '../../kernel/domain-event.js';
import { type EventBatch, type EventStore, isOfOtherStore, isPositionUpTo } from '../../ports/event-store.js';
import type { Checkpoint, ProjectionStore } from '../../ports/projection-store.js';
import { CommitRefused, GenerationWriter, ProjectionFailed, type Track } from './generation-writer.js';
import {
  type Subscription,
  type SubscriptionObserver,
  type SubscriptionStart,
  SubscriptionSupervisor,
  type SupervisorOptions,
} from './subscription-supervisor.js';

/**
 * The reason why a generation cannot be continued. `foreign`: its checkpoint belongs to another log, or to a lost part of this log. `copied`: the log
 * was copied from another kind of store.
 */
export type Unusable = 'fenced' | 'missing' | 'foreign' | 'copied';

export interface CatchUpListener {
  unusable(track: Track, why: Unusable): void;
  /** The projection could not read an event: see ProjectionFailed. */
  failed(track: Track, error: Error): void;
  /** All events up to `through` are committed. `atEnd` when `through` was the end of the log. */
  committed(track: Track, through: string | null, atEnd: boolean): void;
}

export interface CatchUpOptions extends SupervisorOptions {
  /** Whether each commit also moves the checkpoints of projections that had no events. */
  readonly commitsIdle?: boolean;
}

/** The number of events that are folded without a pause. A request never waits for more events. */
const BATCH_SIZE = 50;
/**
 * A commit is made after this many events, or this long after the previous commit. At the end of the log, a commit follows a moment after the first
 * event, because readers of complete lists wait for it.
 */
const COMMIT_EVENTS = 5_000;
const COMMIT_INTERVAL_MS = 100;

interface CommitChoice {
  /** Whether the checkpoints of projections that had no events move. */
  readonly idle: boolean;
  readonly atEnd: boolean;
}

/**
 * One read of the log for all projections at about the same position, so that each event is read and decoded once. Every change of the tracks begins
 * a new subscription from the track that is furthest behind. Tracks that are ahead skip events that they already have.
 */
export class CatchUpSubscription implements Subscription {
  readonly savesLater = true;
  private readonly supervisor: SubscriptionSupervisor;
  private tracks: readonly Track[] = [];
  private writers = new Map<Track, GenerationWriter>();
  private log: string | null = null;
  private uncommitted = 0;
  private committedAt = 0;
  private gathering: NodeJS.Timeout | undefined;
  /** Whether the newest batch ended at the end of the log. */
  private atEnd = false;
  /** All commits since the claim, one after another. Reading continues during the newest commit. */
  private underWay: Promise<void> = Promise.resolve();
  private readonly commitsIdle: boolean;

  constructor(
    readonly name: string,
    private readonly events: EventStore,
    private readonly store: ProjectionStore,
    private readonly token: string,
    private readonly listener: CatchUpListener,
    observer: SubscriptionObserver,
    options: CatchUpOptions,
  ) {
    this.commitsIdle = options.commitsIdle ?? false;
    this.supervisor = new SubscriptionSupervisor(events, this, observer, { batchSize: BATCH_SIZE, ...options });
  }

  get lagMs(): number {
    return this.supervisor.lagMs;
  }

  /** The committed position; undefined while the track is not followed. */
  positionOf(track: Track): string | null | undefined {
    return this.writers.get(track)?.committed;
  }

  /** A track that was removed is not committed any more. */
  assign(tracks: readonly Track[]): void {
    if (tracks.length === this.tracks.length && tracks.every((track, place) => track === this.tracks[place])) return;
    this.tracks = tracks;
    for (const track of this.writers.keys()) if (!tracks.includes(track)) this.writers.delete(track);
    this.supervisor.restart();
  }

  /** Follows the log until the signal aborts, then commits the rest. */
  async run(signal: AbortSignal): Promise<void> {
    await this.supervisor.run(signal);
    await this.commit({ idle: true, atEnd: false });
  }

  /** Begins again from the stored checkpoints. */
  restart(): void {
    this.supervisor.restart();
  }

  /** Moves the checkpoints of projections that had no events, so that a restart reads less of the log. */
  async checkpointIdle(): Promise<void> {
    try {
      await this.commit({ idle: true, atEnd: this.atEnd });
    } catch {
      // After a restart from the stored checkpoints, the same fault occurs again and is reported.
      this.restart();
    }
  }

  async open(): Promise<SubscriptionStart | null> {
    await this.underWay.catch(() => undefined);
    clearTimeout(this.gathering);
    this.gathering = undefined;
    this.writers = new Map();
    this.underWay = Promise.resolve();
    this.uncommitted = 0;
    this.atEnd = false;
    const { tracks } = this;
    const checkpoints = await Promise.all(
      tracks.map(({ projection, generation }) => this.store.resume(projection, generation)),
    );
    // Read after the checkpoints. The commits of another process before it lost a lease therefore never seem to be beyond the log.
    const [head, log] = await Promise.all([this.events.head(), this.firstEvent()]);
    this.log = log;
    const writers = new Map<Track, GenerationWriter>();
    for (const [place, track] of tracks.entries()) {
      const checkpoint = checkpoints[place] ?? null;
      if (checkpoint === null) this.drop(track, 'missing');
      else if (isForeign(checkpoint, head, log))
        this.drop(track, isCopied(checkpoint, head, log) ? 'copied' : 'foreign');
      else writers.set(track, new GenerationWriter(this.events, this.store, track, this.token, checkpoint));
    }
    this.writers = writers;
    if (writers.size === 0) return null;
    const starts = [...writers.values()].map(({ committed }) => committed ?? '').sort();
    return {
      after: starts[0] ? starts[0] : null,
      categories: [...new Set(tracks.map(({ projection }) => projection.category))],
    };
  }

  async handle(batch: EventBatch): Promise<void> {
    // Lets waiting requests run before the batch is folded.
    await nextTurn();
    if (this.log === null && batch.through !== null) this.log = await this.firstEvent();
    const events = new Map<string, RecordedEvent[]>();
    for (const event of batch.events) {
      const category = categoryOf(event.stream);
      const others = events.get(category);
      if (others) others.push(event);
      else events.set(category, [event]);
    }
    const folding: Promise<void>[] = [];
    for (const [track, writer] of this.writers) {
      const own = events.get(track.projection.category);
      if (own === undefined) writer.pass(batch.through);
      else folding.push(this.fold(track, writer, own, batch.through));
    }
    await Promise.all(folding);
    this.uncommitted += batch.events.length;
    this.atEnd = batch.caughtUp;
    if (this.uncommitted < COMMIT_EVENTS) {
      if (batch.caughtUp && this.uncommitted > 0) return this.commitSoon();
      if (!batch.caughtUp && performance.now() - this.committedAt < COMMIT_INTERVAL_MS) return;
    }
    const before = this.underWay;
    const commit = this.commit({ idle: this.commitsIdle, atEnd: this.atEnd });
    await (batch.caughtUp ? commit : before);
  }

  private async fold(
    track: Track,
    writer: GenerationWriter,
    events: readonly RecordedEvent[],
    through: string | null,
  ): Promise<void> {
    const { writers } = this;
    try {
      await writer.fold(events, through);
    } catch (error) {
      if (!(error instanceof ProjectionFailed)) throw error;
      // The other projections continue. The commits of this projection stay.
      writers.delete(track);
      this.tracks = this.tracks.filter((other) => other !== track);
      this.listener.failed(track, error);
    }
  }

  /** At the end of the log, the next events may arrive in a moment. */
  private commitSoon(): void {
    this.gathering ??= setTimeout(() => {
      this.commit({ idle: this.commitsIdle, atEnd: this.atEnd }).catch((error: unknown) => this.supervisor.fail(error));
    }, COMMIT_INTERVAL_MS);
  }

  /** Queues a commit of all events that were folded before the previous commit ends. After one failure, all commits fail until the next claim. */
  private commit({ idle, atEnd }: CommitChoice): Promise<void> {
    const { writers } = this;
    clearTimeout(this.gathering);
    this.gathering = undefined;
    this.uncommitted = 0;
    this.committedAt = performance.now();
    this.underWay = this.underWay.then(async () => {
      // The commits run one after another, so that a reader of Redis waits for at most one step.
      for (const [track, writer] of writers) await this.commitOne(track, writer, idle);
      if (writers !== this.writers) return;
      this.supervisor.saved();
      for (const [track, writer] of writers) this.listener.committed(track, writer.committed, atEnd);
    });
    // The caller that awaits this commit or the next commit gets the error.
    this.underWay.catch(() => undefined);
    return this.underWay;
  }

  private async commitOne(track: Track, writer: GenerationWriter, idle: boolean): Promise<void> {
    try {
      await writer.commit(this.log, { idle });
    } catch (error) {
      if (error instanceof CommitRefused && error.fault === 'fenced') this.drop(track, 'fenced');
      throw error;
    }
  }

  private drop(track: Track, why: Unusable): void {
    this.tracks = this.tracks.filter((other) => other !== track);
    this.listener.unusable(track, why);
  }

  /** The first event identifies the log, because another or a new log has another first event. */
  private async firstEvent(): Promise<string | null> {
    const [first] = await this.events.readAll(null, 1);
    return first?.id ?? null;
  }
}

function isForeign({ position, log }: Checkpoint, head: string | null, ours: string | null): boolean {
  if (position === null) return false;
  return !isPositionUpTo(head, position) || (log !== null && log !== ours);
}

function isCopied({ position, log }: Checkpoint, head: string | null, ours: string | null): boolean {
  return position === null || (log === ours && isOfOtherStore(head, position));
}
