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

/** Why a generation cannot be gone on with. `foreign`: its checkpoint belongs to another log, or to a part that this log lost. `copied`: the log was copied from another kind of store. */
export type Unusable = 'fenced' | 'missing' | 'foreign' | 'copied';

export interface CatchUpListener {
  unusable(track: Track, why: Unusable): void;
  /** The projection could not read an event: see ProjectionFailed. */
  failed(track: Track, error: Error): void;
  /** Everything up to `through` is committed; `atEnd` when that was the end of the log. */
  committed(track: Track, through: string | null, atEnd: boolean): void;
}

/** What keeps tracks up with the log, in this process or in another. */
export interface TrackFollower {
  readonly name: string;
  readonly lagMs: number;
  /** Committed up to here; undefined while the track is not followed. */
  positionOf(track: Track): string | null | undefined;
  /** A track that is taken away is not committed any more. */
  assign(tracks: readonly Track[]): void;
  /** Follows the log until the signal aborts, then commits what it has. */
  run(signal: AbortSignal): Promise<void>;
  /** Begins again from what is stored. */
  restart(): void;
  /** Moves the checkpoints of projections without news, so that a restart need not read the log from where they last had some. */
  checkpointIdle(): Promise<void>;
}

export interface CatchUpOptions extends SupervisorOptions {
  /**
   * A commit is made when this many events have come in, or so long after the one before. At the end of the log it is made a moment after the
   * first event: whoever appended it has applied his own at once, and whoever reads what is only written from the log waits for it.
   */
  readonly commitEvents?: number;
  readonly commitIntervalMs?: number;
  /** Whether each commit moves the checkpoints of projections without news too. */
  readonly commitsIdle?: boolean;
  /** Awaited before each batch. */
  readonly pause?: () => Promise<void>;
}

const COMMIT_EVENTS = 5_000;
const COMMIT_INTERVAL_MS = 100;
/** While catching up; at the head a batch is what there is. */
export const BATCH_SIZE = 2_000;
/**
 * Nobody waits for a generation that is being built: the more events a commit takes in, the fewer documents are written twice. Once it is live, what
 * answers requests reads the log itself from its checkpoint: so that is never far behind.
 */
const BUILDING: CatchUpOptions = {
  // Between two batches the steps that have been taken are followed by the next, so that reading and writing go on side by side.
  batchSize: 120,
  commitEvents: 20_000,
  commitIntervalMs: 1_000,
  commitsIdle: true,
};

interface CommitChoice {
  /** Whether the checkpoints of projections without news move. */
  readonly idle: boolean;
  readonly atEnd: boolean;
}

/**
 * One reading of the log for all projections that are at about the same place: each event is read and decoded once. Tracks
 * come and go; each change begins a new subscription from the furthest behind of them, and a track that is ahead skips what it has.
 */
export class CatchUpSubscription implements Subscription, TrackFollower {
  readonly savesLater = true;
  private readonly supervisor: SubscriptionSupervisor;
  private tracks: readonly Track[] = [];
  private writers = new Map<Track, GenerationWriter>();
  private log: string | null = null;
  private uncommitted = 0;
  private committedAt = 0;
  private gathering: NodeJS.Timeout | undefined;
  /** Whether the newest batch ended where the log did. */
  private atEnd = false;
  /** All commits since the claim, one after another; the log is read on while the newest is under way. */
  private underWay: Promise<void> = Promise.resolve();
  private readonly commitEvents: number;
  private readonly commitIntervalMs: number;
  private readonly commitsIdle: boolean;

  /** One that fills generations which nobody reads yet. */
  static building(
    events: EventStore,
    store: ProjectionStore,
    token: string,
    listener: CatchUpListener,
    observer: SubscriptionObserver,
    options: SupervisorOptions & Pick<CatchUpOptions, 'pause'> = {},
  ): CatchUpSubscription {
    return new CatchUpSubscription('rebuild', events, store, token, listener, observer, { ...BUILDING, ...options });
  }

  constructor(
    readonly name: string,
    private readonly events: EventStore,
    private readonly store: ProjectionStore,
    private readonly token: string,
    private readonly listener: CatchUpListener,
    observer: SubscriptionObserver,
    private readonly options: CatchUpOptions,
  ) {
    this.commitEvents = options.commitEvents ?? COMMIT_EVENTS;
    this.commitIntervalMs = options.commitIntervalMs ?? COMMIT_INTERVAL_MS;
    this.commitsIdle = options.commitsIdle ?? false;
    this.supervisor = new SubscriptionSupervisor(events, this, observer, options);
  }

  get lagMs(): number {
    return this.supervisor.lagMs;
  }

  positionOf(track: Track): string | null | undefined {
    return this.writers.get(track)?.committed;
  }

  assign(tracks: readonly Track[]): void {
    if (tracks.length === this.tracks.length && tracks.every((track, place) => track === this.tracks[place])) return;
    this.tracks = tracks;
    for (const track of this.writers.keys()) if (!tracks.includes(track)) this.writers.delete(track);
    this.supervisor.restart();
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.supervisor.run(signal);
    await this.commit({ idle: true, atEnd: false });
  }

  restart(): void {
    this.supervisor.restart();
  }

  async checkpointIdle(): Promise<void> {
    try {
      await this.commit({ idle: true, atEnd: this.atEnd });
    } catch {
      // Whatever it was, beginning again from what is stored brings it up once more, where it is reported.
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
    // Read after the checkpoints: what another process committed before it lost a lease must not look further than the log goes.
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
    await this.options.pause?.();
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
    if (this.uncommitted < this.commitEvents) {
      if (batch.caughtUp && this.uncommitted > 0) return this.commitSoon();
      if (!batch.caughtUp && performance.now() - this.committedAt < this.commitIntervalMs) return;
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
      // The others go on; what this one has committed stays as it is.
      writers.delete(track);
      this.tracks = this.tracks.filter((other) => other !== track);
      this.listener.failed(track, error);
    }
  }

  /** At the end of the log, where the next events may be about to come. */
  private commitSoon(): void {
    this.gathering ??= setTimeout(() => {
      this.commit({ idle: this.commitsIdle, atEnd: this.atEnd }).catch((error: unknown) => this.supervisor.fail(error));
    }, COMMIT_INTERVAL_MS);
  }

  /** Queues a commit of everything that has been folded by the time the one before is done. Once one fails, all fail until the next claim. */
  private commit({ idle, atEnd }: CommitChoice): Promise<void> {
    const { writers } = this;
    clearTimeout(this.gathering);
    this.gathering = undefined;
    this.uncommitted = 0;
    this.committedAt = performance.now();
    this.underWay = this.underWay.then(async () => {
      await Promise.all([...writers].map(([track, writer]) => this.commitOne(track, writer, idle)));
      if (writers !== this.writers) return;
      this.supervisor.saved();
      for (const [track, writer] of writers) this.listener.committed(track, writer.committed, atEnd);
    });
    // The caller that awaits this commit is told, now or before the next.
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

  /** Names the log: another one, or one that was begun anew, has another first event. */
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
