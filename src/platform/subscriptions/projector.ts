// Keeps the read models up to date: which process writes which projection, and when one has to be built anew.
import { randomUUID } from 'node:crypto';
import type { EventStore } from '../../ports/event-store.js';
import type { AnyProjection, Generations, ProjectionStore, RebuildReport } from '../../ports/projection-store.js';
import { compareAndFlip } from './flip.js';
import type { ProjectionFailed } from './generation-writer.js';
import { Pass, type PassListener, type Track, type Unusable } from './pass.js';
import { delay, type SubscriptionObserver, type SupervisorOptions } from './subscription-supervisor.js';

export interface ProjectionStatus {
  readonly projection: string;
  readonly version: number;
  /**
   * `live`: this process writes it. `building`: it does, and nothing is served from it until it has caught up. `standby`: another
   * process does, or nobody yet. `stopped`: it cannot read an event, and waits for a release that can.
   */
  readonly state: 'live' | 'building' | 'standby' | 'stopped';
  /** Committed up to here; null for the beginning and while this process does not write it. */
  readonly position: string | null;
  /** For how long something has been waiting in the log, in ms; 0 at the head, and while this process does not write it. */
  readonly lagMs: number;
}

export interface ProjectorObserver extends SubscriptionObserver {
  /** An alarm: the projection stands still until a release can read the event. */
  stopped(projection: string, error: ProjectionFailed): void;
  /** What is stored of a stream was not what had been written; it has been folded from the log. */
  gap(projection: string, stream: string): void;
  buildStarted(projection: string, generation: number, why: 'first' | 'requested' | Unusable): void;
  /** An alarm when there are differences: the read model that was replaced was not what the log says. */
  rebuilt(report: RebuildReport): void;
  /** The leases could not be looked after; tried again in a moment. */
  leasesFailed(error: unknown): void;
}

export interface ProjectorOptions extends SupervisorOptions {
  /** Names this process to operators. */
  readonly holder?: string;
  /** A dead process is replaced after at most this and one interval. */
  readonly leaseMs?: number;
  readonly intervalMs?: number;
}

/** While catching up; at the head a batch is what there is. */
const BATCH_SIZE = 2_000;

/** What this process knows and does of one projection. */
interface Slot {
  readonly projection: AnyProjection;
  fence: number | null;
  generations: Generations;
  live: Track | null;
  building: Track | null;
  /** Where the log ended when the building generation was begun; undefined: not asked yet. */
  target: string | null | undefined;
  /** The building generation has reached the live one and goes along with it. */
  joined: boolean;
  finishing: Promise<void> | null;
  request: string | null;
  unusable: { readonly generation: number; readonly why: Unusable } | null;
  stopped: boolean;
}

/**
 * Writes the projections that no other process writes. Two passes over the log: one keeps live generations at the head, the
 * other fills new ones from the beginning. A new generation that has caught up joins the first pass, ahead of the
 * live one in every commit, so that readers never fall back when the pointer is flipped.
 */
export class Projector {
  private readonly slots: readonly Slot[];
  private readonly live: Pass;
  private readonly rebuild: Pass;
  private readonly holder: string;
  private readonly leaseMs: number;
  private readonly intervalMs: number;
  private nap = new AbortController();
  private stopping = new AbortController();
  private running: Promise<unknown> | null = null;

  constructor(
    private readonly events: EventStore,
    private readonly store: ProjectionStore,
    projections: readonly AnyProjection[],
    private readonly observer: ProjectorObserver,
    options: ProjectorOptions = {},
  ) {
    this.holder = options.holder ?? randomUUID();
    this.leaseMs = options.leaseMs ?? 6_000;
    this.intervalMs = options.intervalMs ?? 1_000;
    const listener: PassListener = {
      unusable: (track, why) => this.unusable(track, why),
      failed: (track, error) => this.failed(track, error),
      gap: (track, stream) => observer.gap(track.projection.name, stream),
      passed: (pass, track, through, atEnd) => this.passed(pass, track, through, atEnd),
    };
    const passOptions = { batchSize: BATCH_SIZE, ...options };
    this.live = new Pass('projections', events, store, listener, observer, passOptions);
    this.rebuild = new Pass('rebuild', events, store, listener, observer, passOptions);
    this.slots = projections.map((projection) => ({
      projection,
      fence: null,
      generations: { live: null, building: null },
      live: null,
      building: null,
      target: undefined,
      joined: false,
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
      this.live.restart();
      this.rebuild.restart();
      this.wake();
    });
    signal.addEventListener('abort', unwatch);
    this.running = Promise.all([
      this.lookAfterLeases(signal),
      this.runPass(this.live, signal),
      this.runPass(this.rebuild, signal),
    ]);
  }

  /** Finishes the batch, saves the checkpoints and gives the leases back. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.wake();
    await this.running;
    this.running = null;
    for (const { finishing } of this.slots) await finishing;
    await Promise.all(
      this.slots.map(async (slot) => {
        const { fence } = slot;
        this.lose(slot);
        if (fence !== null)
          await this.store
            .releaseLease(slot.projection, fence)
            .catch((error: unknown) => this.observer.leasesFailed(error));
      }),
    );
  }

  status(): ProjectionStatus[] {
    return this.slots.map((slot) => {
      const { projection, live, building, joined } = slot;
      const { name, version } = projection;
      const [pass, track] = live === null && !joined ? [this.rebuild, building] : [this.live, live ?? building];
      const state = slot.stopped ? 'stopped' : track === null ? 'standby' : live === null ? 'building' : 'live';
      return {
        projection: name,
        version,
        state,
        position: track === null ? null : pass.positionOf(track),
        lagMs: track === null ? 0 : pass.lagMs,
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

  private failed(track: Track, error: ProjectionFailed): void {
    const slot = this.slotOf(track);
    if (slot === undefined || slot.stopped) return;
    slot.stopped = true;
    this.observer.stopped(track.projection.name, error);
    this.wake();
  }

  private passed(pass: Pass, track: Track, through: string | null, atEnd: boolean): void {
    const slot = this.slotOf(track);
    if (slot === undefined || slot.building !== track || slot.target === undefined || slot.finishing !== null) return;
    // Whatever lies beyond the target has been written to both generations by whoever appended it.
    const reached = (position: string | null): boolean =>
      position === null || (through !== null && through >= position);
    if (!atEnd && (slot.target === null || !reached(slot.target))) return;
    if (!slot.joined) {
      slot.joined = true;
      this.wake();
    } else if (pass === this.live && (slot.live === null || reached(pass.positionOf(slot.live)))) {
      slot.finishing = this.finish(slot, track);
    }
  }

  private async lookAfterLeases(signal: AbortSignal): Promise<void> {
    let checkpointAt = performance.now();
    while (!signal.aborted) {
      this.nap = new AbortController();
      const settled = await Promise.allSettled(this.slots.map((slot) => this.settle(slot)));
      for (const { reason } of settled.filter((each) => each.status === 'rejected')) this.observer.leasesFailed(reason);
      this.assign();
      if (performance.now() - checkpointAt >= this.intervalMs) {
        checkpointAt = performance.now();
        void this.live.checkpointIdle();
        void this.rebuild.checkpointIdle();
      }
      if (!signal.aborted) await delay(this.intervalMs, this.nap.signal);
    }
  }

  /** Looks again at once, because something has changed. */
  private wake(): void {
    this.nap.abort();
  }

  private async runPass(pass: Pass, signal: AbortSignal): Promise<void> {
    try {
      await pass.run(signal);
    } catch (error) {
      // The last commit failed: what it held is read again by whoever comes next.
      this.observer.dropped(pass.name, error, 0);
    }
  }

  /** Takes or keeps the lease, and begins a generation where one is needed. */
  private async settle(slot: Slot): Promise<void> {
    const { projection } = slot;
    if (slot.stopped) {
      const { fence } = slot;
      this.lose(slot);
      if (fence !== null) await this.store.releaseLease(projection, fence);
      return;
    }
    if (slot.fence === null) {
      slot.fence = await this.store.acquireLease(projection, this.holder, this.leaseMs);
      if (slot.fence === null) return;
    }
    const { fence } = slot;
    const lease = await this.store.renewLease(projection, fence, this.leaseMs);
    if (slot.fence !== fence) return;
    if (!lease.held) {
      this.lose(slot);
      this.wake();
      return;
    }
    if (slot.finishing !== null) return;
    slot.request = lease.rebuildRequest;
    const generations = await this.neededGenerations(slot, fence, lease.generations);
    // A pass may have found out meanwhile that the lease is gone.
    if (slot.fence !== fence) return;
    slot.generations = generations;
    const { live, building } = generations;
    slot.live = trackOf(slot, slot.live, live, fence);
    slot.building = trackOf(slot, slot.building, building, fence);
    if (building !== null && slot.target === undefined) slot.target = await this.events.head();
  }

  private async neededGenerations(slot: Slot, fence: number, found: Generations): Promise<Generations> {
    const { unusable } = slot;
    slot.unusable = null;
    const lost = unusable !== null && (unusable.generation === found.live || unusable.generation === found.building);
    const nothing = found.live === null && found.building === null;
    const requested = slot.request !== null && found.building === null;
    if (!lost && !nothing && !requested) {
      if (found.building !== slot.generations.building) this.forgetBuild(slot);
      return found;
    }
    const keepLive = unusable === null || unusable.generation !== found.live;
    const begun = await this.store.beginGeneration(slot.projection, fence, found, keepLive);
    if (begun === null) return found;
    this.forgetBuild(slot);
    this.observer.buildStarted(
      slot.projection.name,
      begun.building ?? 0,
      lost ? unusable.why : nothing ? 'first' : 'requested',
    );
    await this.store.retireOthers(slot.projection, begun);
    return begun;
  }

  private forgetBuild(slot: Slot): void {
    slot.target = undefined;
    slot.joined = false;
  }

  private lose(slot: Slot): void {
    slot.fence = null;
    slot.live = null;
    slot.building = null;
    slot.generations = { live: null, building: null };
    this.forgetBuild(slot);
  }

  private assign(): void {
    const [live, rebuild]: [Track[], Track[]] = [[], []];
    for (const slot of this.slots) {
      if (slot.building !== null) (slot.joined ? live : rebuild).push(slot.building);
      if (slot.live !== null) live.push(slot.live);
    }
    this.live.assign(live);
    this.rebuild.assign(rebuild);
  }

  private async finish(slot: Slot, track: Track): Promise<void> {
    try {
      const report = await compareAndFlip(this.store, track, slot.generations, slot.request);
      if (report !== null) this.observer.rebuilt(report);
    } catch (error) {
      this.observer.leasesFailed(error);
      // Reaching the end of the log again is what tries it again.
      this.live.restart();
    }
    slot.finishing = null;
    this.wake();
  }

  /** Undefined for a track of a lease that this process has lost meanwhile. */
  private slotOf(track: Track): Slot | undefined {
    return this.slots.find((slot) => slot.live === track || slot.building === track);
  }
}

/** The same object for the same track, so that a pass sees whether anything changed. */
function trackOf(slot: Slot, known: Track | null, generation: number | null, fence: number): Track | null {
  if (generation === null) return null;
  for (const track of [known, slot.live, slot.building]) {
    if (track !== null && track.generation === generation && track.fence === fence) return track;
  }
  return { projection: slot.projection, generation, fence };
}
