// Keeps the read models up to date. Decides which process writes which projection, and when to build a projection again.
import { randomUUID } from 'node:crypto';
import { machineNow } from '../../kernel/machine-time.js';
import { untilNextRound } from '../../kernel/rounds.js';
import type { EventStore } from '../../ports/event-store.js';
import type { AnyProjection, Generations, ProjectionStore, RebuildReport } from '../../ports/projection-store.js';
import { type CatchUpListener, CatchUpSubscription, type Unusable } from './catch-up-subscription.js';
import { shareOfLog } from './build-progress.js';
import type { Track } from './generation-writer.js';
import { delay, type SubscriptionObserver, type SupervisorOptions } from './subscription-supervisor.js';

export interface ProjectionStatus {
  readonly projection: string;
  readonly version: number;
  /**
   * `live`: this process writes the projection. `building`: this process builds the projection, and readers do not see it until it has caught up.
   * `standby`: another process writes the projection, or no process yet. `stopped`: the projection cannot read an event, and waits for a release that
   * can read it.
   */
  readonly state: 'live' | 'building' | 'standby' | 'stopped';
  /** The committed position; null at the beginning, and while this process does not write the projection. */
  readonly position: string | null;
  /** The milliseconds for which an event has waited in the log. The value is 0 at the head, and while this process does not write the projection. */
  readonly lagMs: number;
  /** The share of the log that a new generation has read, from 0 to 1. Null if this process builds none, or if the share is unknown. */
  readonly builtShare: number | null;
}

export interface ProjectorObserver extends SubscriptionObserver {
  /** An alarm: the projection stops until a release can read the event. */
  stopped(projection: string, error: Error): void;
  buildStarted(projection: string, generation: number, why: 'first' | 'requested' | Unusable): void;
  /** The new generation is live. Differences in the report are an alarm: the old generation did not agree with the log. */
  rebuilt(report: RebuildReport): void;
  /** The leases could not be renewed. The projector tries again soon. */
  leasesFailed(error: unknown): void;
}

export interface ProjectorOptions extends SupervisorOptions {
  /** The token of this process's leases. The default is a new token. */
  readonly holder?: string;
  /** A dead process is replaced by another process after at most this time and one interval. */
  readonly leaseMs?: number;
  readonly intervalMs?: number;
}

/** The number of ids in a report. */
const NAMED_DIFFERENCES = 20;

/** The state of one projection in this process. */
interface Slot {
  readonly projection: AnyProjection;
  held: boolean;
  generations: Generations;
  live: Track | null;
  building: Track | null;
  /** The end of the log when the building generation began; undefined if it was not read yet. */
  target: string | null | undefined;
  /** The comparison of the building generation with the live one, which is then no longer updated. Undefined before the comparison. */
  differences: readonly string[] | null | undefined;
  finishing: Promise<void> | null;
  request: string | null;
  unusable: { readonly generation: number; readonly why: Unusable } | null;
  stopped: boolean;
}

/**
 * Writes the projections that no other process writes. One subscription keeps live generations at the head of the log, and another fills new ones
 * from the beginning. A new generation that has caught up with the live one is compared with it. After this comparison, the live generation is not
 * updated. The new generation is therefore ahead, and readers never see older data when it is promoted.
 */
export class Projector {
  private readonly slots: readonly Slot[];
  private readonly live: CatchUpSubscription;
  private readonly rebuild: CatchUpSubscription;
  private readonly followers: readonly CatchUpSubscription[];
  private readonly token: string;
  private readonly leaseMs: number;
  private readonly intervalMs: number;
  private nap = new AbortController();
  private stopping = new AbortController();
  private running: Promise<unknown> | null = null;

  constructor(
    private readonly events: EventStore,
    private readonly store: ProjectionStore,
    readonly projections: readonly AnyProjection[],
    private readonly observer: ProjectorObserver,
    options: ProjectorOptions = {},
  ) {
    this.token = options.holder ?? randomUUID();
    this.leaseMs = options.leaseMs ?? 6_000;
    this.intervalMs = options.intervalMs ?? 2_000;
    const listener: CatchUpListener = {
      unusable: (track, why) => this.unusable(track, why),
      failed: (track, error) => this.failed(track, error),
      committed: (track, through, atEnd) => this.committed(track, through, atEnd),
    };
    const { token } = this;
    const building = { ...options, commitsIdle: true };
    this.live = new CatchUpSubscription('projections', events, store, token, listener, observer, options);
    this.rebuild = new CatchUpSubscription('rebuild', events, store, token, listener, observer, building);
    this.followers = [this.live, this.rebuild];
    this.slots = projections.map((projection) => ({
      projection,
      held: false,
      generations: { live: null, building: null },
      live: null,
      building: null,
      target: undefined,
      differences: undefined,
      finishing: null,
      request: null,
      unusable: null,
      stopped: false,
    }));
  }

  start(): void {
    if (this.running !== null) return;
    this.stopping = new AbortController();
    const { signal } = this.stopping;
    const unwatch = this.store.onReturn(() => {
      for (const follower of this.followers) follower.restart();
      this.wake();
    });
    signal.addEventListener('abort', unwatch);
    const following = this.followers.map((follower) => this.follow(follower, signal));
    this.running = Promise.all([this.lookAfterLeases(signal), ...following]);
  }

  /** Finishes the batch, saves the checkpoints and releases the leases. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.wake();
    await this.running;
    this.running = null;
    for (const { finishing } of this.slots) await finishing;
    await Promise.all(
      this.slots.map((slot) => this.release(slot).catch((error: unknown) => this.observer.leasesFailed(error))),
    );
  }

  status(): ProjectionStatus[] {
    return this.slots.map(({ projection: { name, version }, live, building, target, stopped }) => {
      const [subscription, track] = live === null ? [this.rebuild, building] : [this.live, live];
      const state = stopped ? 'stopped' : track === null ? 'standby' : live === null ? 'building' : 'live';
      return {
        projection: name,
        version,
        state,
        position: track === null ? null : (subscription.positionOf(track) ?? null),
        lagMs: track === null ? 0 : subscription.lagMs,
        builtShare:
          building === null || target === undefined
            ? null
            : shareOfLog(this.rebuild.positionOf(building) ?? null, target),
      };
    });
  }

  private unusable(track: Track, why: Unusable): void {
    const slot = this.slotOf(track);
    if (slot === undefined) return;
    if (why === 'fenced') this.lose(slot);
    else slot.unusable = { generation: track.generation, why };
    this.wake();
  }

  private failed(track: Track, error: Error): void {
    const slot = this.slotOf(track);
    if (slot === undefined || slot.stopped) return;
    slot.stopped = true;
    this.observer.stopped(track.projection.name, error);
    this.wake();
  }

  private committed(track: Track, through: string | null, atEnd: boolean): void {
    const slot = this.slotOf(track);
    if (slot === undefined || slot.building !== track || slot.target === undefined || slot.finishing !== null) return;
    const reached = (position: string | null): boolean =>
      position === null || (through !== null && through >= position);
    // The log grows during the build, so the build must reach only the end that the log had when the build began.
    if (!atEnd && !reached(slot.target)) return;
    if (slot.differences === undefined && slot.live !== null) {
      const position = this.live.positionOf(slot.live);
      if (position === undefined || !reached(position)) return;
    }
    slot.finishing = this.finish(slot, track, through);
  }

  private async lookAfterLeases(signal: AbortSignal): Promise<void> {
    let checkpointAt = performance.now();
    while (!signal.aborted) {
      this.nap = new AbortController();
      const settled = await Promise.allSettled(this.slots.map((slot) => this.settle(slot)));
      for (const { reason } of settled.filter((each) => each.status === 'rejected')) this.observer.leasesFailed(reason);
      this.assign();
      if (performance.now() - checkpointAt >= this.intervalMs / 2) {
        checkpointAt = performance.now();
        for (const follower of this.followers) void follower.checkpointIdle();
      }
      if (!signal.aborted) await delay(untilNextRound(this.intervalMs), this.nap.signal);
    }
  }

  /** Checks again at once after a change. */
  private wake(): void {
    this.nap.abort();
  }

  private async follow(subscription: CatchUpSubscription, signal: AbortSignal): Promise<void> {
    try {
      await subscription.run(signal);
    } catch (error) {
      // The last commit failed, so the next holder of the lease reads its events again.
      this.observer.dropped(subscription.name, error, 0);
    }
  }

  /** Takes or renews the lease, and begins a generation where one is needed. */
  private async settle(slot: Slot): Promise<void> {
    if (slot.stopped) return this.release(slot);
    const lease = await this.store.lease(slot.projection, this.token, this.leaseMs);
    if (lease === null) return this.lose(slot);
    slot.held = true;
    if (slot.finishing !== null) return;
    slot.request = lease.rebuildRequest;
    slot.generations = await this.neededGenerations(slot, lease.generations);
    const { live, building } = slot.generations;
    const known = [slot.live, slot.building];
    // The same generation has the same object, so that a subscription notices any change.
    const trackOf = (generation: number | null): Track | null =>
      generation === null
        ? null
        : (known.find((track) => track?.generation === generation) ?? { projection: slot.projection, generation });
    slot.live = trackOf(live);
    slot.building = trackOf(building);
    if (building !== null && slot.target === undefined) slot.target = await this.events.head();
  }

  private async neededGenerations(slot: Slot, found: Generations): Promise<Generations> {
    const { unusable } = slot;
    slot.unusable = null;
    const lost = unusable !== null && (unusable.generation === found.live || unusable.generation === found.building);
    const nothing = found.live === null && found.building === null;
    const requested = slot.request !== null && found.building === null;
    if (!lost && !nothing && !requested) {
      if (found.building !== slot.generations.building) this.forgetBuild(slot);
      return found;
    }
    const live = unusable?.generation === found.live ? null : found.live;
    // The number is the current time, so that it is not used again after Redis lost its data.
    const building = Math.max(machineNow(), (found.live ?? 0) + 1, (found.building ?? 0) + 1);
    if (!(await this.store.beginGeneration(slot.projection, this.token, building, live !== null))) return found;
    this.forgetBuild(slot);
    const why = lost ? unusable.why : !nothing ? 'requested' : slot.generations.live === null ? 'first' : 'missing';
    this.observer.buildStarted(slot.projection.name, building, why);
    return { live, building };
  }

  private forgetBuild(slot: Slot): void {
    slot.target = undefined;
    slot.differences = undefined;
  }

  private lose(slot: Slot): void {
    slot.held = false;
    slot.live = null;
    slot.building = null;
    slot.generations = { live: null, building: null };
    this.forgetBuild(slot);
  }

  private async release(slot: Slot): Promise<void> {
    const { held } = slot;
    this.lose(slot);
    if (held) await this.store.releaseLease(slot.projection, this.token);
  }

  private assign(): void {
    const followed = this.slots.flatMap(({ live, differences }) =>
      live !== null && differences === undefined ? [live] : [],
    );
    this.rebuild.assign(this.slots.flatMap(({ building }) => building ?? []));
    this.live.assign(followed);
  }

  private async finish(slot: Slot, { projection, generation }: Track, through: string | null): Promise<void> {
    try {
      if (slot.differences === undefined) {
        const differences = slot.live === null ? null : await this.store.differences(projection, NAMED_DIFFERENCES);
        if (slot.building?.generation !== generation) return;
        slot.differences = differences;
        this.assign();
      }
      const report: RebuildReport = {
        projection: projection.name,
        generation,
        request: slot.request,
        documents: (await this.store.sizes(projection)).building,
        differences: slot.differences,
        finishedAt: new Date(machineNow()).toISOString(),
      };
      // Older versions are retired before the promotion, because after a promotion and a crash this code would not run again.
      await this.store.retireOlderVersions(projection);
      if ((await this.store.promote(projection, this.token, through, report)) === 'promoted')
        this.observer.rebuilt(report);
    } catch (error) {
      this.observer.leasesFailed(error);
    } finally {
      slot.finishing = null;
      this.wake();
    }
  }

  /** Undefined for a track whose lease this process has lost in the meantime. */
  private slotOf(track: Track): Slot | undefined {
    return this.slots.find((slot) => slot.live === track || slot.building === track);
  }
}
