// Fills generations in a thread of its own, so that whoever asks this process something does not wait for it: this thread's side
// and the other's, and what they tell each other.
import type { MessagePort, Worker } from 'node:worker_threads';
import type { EventStore } from '../../ports/event-store.js';
import type { AnyProjection, ProjectionStore } from '../../ports/projection-store.js';
import {
  type CatchUpListener,
  CatchUpSubscription,
  type TrackFollower,
  type Unusable,
} from './catch-up-subscription.js';
import type { Track } from './generation-writer.js';
import type { SubscriptionObserver } from './subscription-supervisor.js';

/** A track by its names. */
interface TrackName {
  readonly projection: string;
  readonly generation: number;
}

type ToThread =
  | { readonly kind: 'assign'; readonly tracks: readonly TrackName[] }
  | { readonly kind: 'restart' | 'checkpoint' | 'end' };

/** `error`: as it comes out of a structured clone, with its message and stack and without its class. */
type FromThread =
  | { readonly kind: 'committed'; readonly track: TrackName; readonly through: string | null; readonly atEnd: boolean }
  | { readonly kind: 'unusable'; readonly track: TrackName; readonly why: Unusable }
  | { readonly kind: 'failed'; readonly track: TrackName; readonly error: Error }
  | { readonly kind: 'dropped'; readonly error: unknown; readonly delayMs: number }
  | { readonly kind: 'lag'; readonly lagMs: number };

/** After a thread died. */
const START_AGAIN_MS = 1_000;

/** The thread lives for as long as there is something to build. */
export class RebuildThread implements TrackFollower {
  readonly name = 'rebuild';
  private lag = 0;
  /** Since when no thread has got anything done; null while one does. */
  private idleSince: number | null = null;
  private stopped = false;
  private tracks: readonly Track[] = [];
  private readonly committed = new Map<Track, string | null>();
  private thread: Worker | null = null;
  private startingAgain: NodeJS.Timeout | undefined;
  private readonly exits = new Set<Promise<void>>();

  /** `begin` makes a thread that runs `serveRebuilds`. */
  constructor(
    private readonly begin: () => Worker,
    private readonly listener: CatchUpListener,
    private readonly observer: SubscriptionObserver,
  ) {}

  get lagMs(): number {
    return this.idleSince === null ? this.lag : performance.now() - this.idleSince;
  }

  positionOf(track: Track): string | null | undefined {
    return this.committed.get(track);
  }

  assign(tracks: readonly Track[]): void {
    if (this.stopped) return;
    if (tracks.length === 0) return this.end();
    if (tracks.length === this.tracks.length && tracks.every((track, place) => track === this.tracks[place])) return;
    this.tracks = tracks;
    for (const track of this.committed.keys()) if (!tracks.includes(track)) this.committed.delete(track);
    if (this.thread === null) this.start();
    else this.tell({ kind: 'assign', tracks: tracks.map(nameOf) });
  }

  async run(signal: AbortSignal): Promise<void> {
    this.stopped = false;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    this.stopped = true;
    this.end();
    await Promise.all(this.exits);
  }

  restart(): void {
    this.tell({ kind: 'restart' });
  }

  async checkpointIdle(): Promise<void> {
    this.tell({ kind: 'checkpoint' });
  }

  private start(): void {
    clearTimeout(this.startingAgain);
    let thread: Worker;
    try {
      thread = this.begin();
    } catch (error) {
      return this.startLater(error);
    }
    this.thread = thread;
    thread.on('message', (message: FromThread) => {
      if (thread === this.thread) this.heard(message);
    });
    thread.once('error', (error) => this.lost(thread, error));
    const exit = new Promise<void>((resolve) => thread.once('exit', () => resolve())).then(() => {
      this.exits.delete(exit);
      this.lost(thread, new Error('The thread that builds read models ended by itself'));
    });
    this.exits.add(exit);
    this.tell({ kind: 'assign', tracks: this.tracks.map(nameOf) });
  }

  private end(): void {
    clearTimeout(this.startingAgain);
    this.tell({ kind: 'end' });
    this.thread = null;
    this.tracks = [];
    this.committed.clear();
    this.lag = 0;
    this.idleSince = null;
  }

  private lost(thread: Worker, error: unknown): void {
    if (thread !== this.thread) return;
    this.thread = null;
    this.startLater(error);
  }

  private startLater(error: unknown): void {
    this.idleSince ??= performance.now();
    this.observer.dropped(this.name, error, START_AGAIN_MS);
    this.startingAgain = setTimeout(() => this.start(), START_AGAIN_MS);
  }

  private tell(message: ToThread): void {
    this.thread?.postMessage(message);
  }

  private heard(message: FromThread): void {
    if (message.kind === 'dropped') return this.observer.dropped(this.name, message.error, message.delayMs);
    if (message.kind === 'lag') {
      this.lag = message.lagMs;
      return this.observer.lag(this.name, this.lagMs);
    }
    const track = this.tracks.find((each) => isNamed(each, message.track));
    if (track === undefined) return;
    if (message.kind === 'committed') {
      this.committed.set(track, message.through);
      this.idleSince = null;
      return this.listener.committed(track, message.through, message.atEnd);
    }
    // The thread follows it no more.
    this.tracks = this.tracks.filter((each) => each !== track);
    this.committed.delete(track);
    if (message.kind === 'unusable') this.listener.unusable(track, message.why);
    else this.listener.failed(track, message.error);
  }
}

/** The other thread: builds what it is told to, under the leases of `token`, until it is told to end. */
export async function serveRebuilds(
  port: MessagePort,
  events: EventStore,
  store: ProjectionStore,
  projections: readonly AnyProjection[],
  token: string,
): Promise<void> {
  const ending = new AbortController();
  const say = (message: FromThread): void => port.postMessage(message);
  const listener: CatchUpListener = {
    committed: (track, through, atEnd) => say({ kind: 'committed', track: nameOf(track), through, atEnd }),
    unusable: (track, why) => say({ kind: 'unusable', track: nameOf(track), why }),
    failed: (track, { message, stack = message }) =>
      say({ kind: 'failed', track: nameOf(track), error: Object.assign(new Error(message), { stack }) }),
  };
  const observer: SubscriptionObserver = {
    dropped: (_, error, delayMs) => say({ kind: 'dropped', error: plain(error), delayMs }),
    lag: (_, lagMs) => say({ kind: 'lag', lagMs }),
  };
  const subscription = CatchUpSubscription.building(events, store, token, listener, observer);
  let tracks: readonly Track[] = [];
  port.on('message', (message: ToThread) => {
    if (message.kind === 'assign') {
      // The same object for the same track, so that the subscription sees what has changed.
      tracks = message.tracks.flatMap((name) => {
        const known = tracks.find((track) => isNamed(track, name));
        const projection = projections.find((each) => each.name === name.projection);
        return known ?? (projection ? [{ projection, generation: name.generation }] : []);
      });
      subscription.assign(tracks);
    } else if (message.kind === 'restart') subscription.restart();
    else if (message.kind === 'checkpoint') void subscription.checkpointIdle();
    else ending.abort();
  });
  await subscription.run(ending.signal);
}

function nameOf({ projection, generation }: Track): TrackName {
  return { projection: projection.name, generation };
}

function isNamed(track: Track, { projection, generation }: TrackName): boolean {
  return track.projection.name === projection && track.generation === generation;
}

/** An error of a library may hold what cannot be cloned. */
function plain(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  return Object.assign(new Error(error.message), { stack: error.stack });
}
