// Fills generations in a process of its own, so that whoever asks this one something does not wait for it: this process's side
// and the other's, and what they tell each other.
import type { ChildProcess } from 'node:child_process';
import type { EventStore } from '../../ports/event-store.js';
import type { AnyProjection, ProjectionStore } from '../../ports/projection-store.js';
import {
  type CatchUpListener,
  CatchUpSubscription,
  type TrackFollower,
  type Unusable,
} from './catch-up-subscription.js';
import type { Track } from './generation-writer.js';
import type { Throttle } from './throttle.js';
import type { SubscriptionObserver } from './subscription-supervisor.js';

/** A track by its names. */
interface TrackName {
  readonly projection: string;
  readonly generation: number;
}

type ToProcess =
  | { readonly kind: 'assign'; readonly tracks: readonly TrackName[] }
  | { readonly kind: 'restart' | 'checkpoint' | 'end' };

/** `error`: as it comes out of a structured clone, with its message and stack and without its class. */
type FromProcess =
  | { readonly kind: 'committed'; readonly track: TrackName; readonly through: string | null; readonly atEnd: boolean }
  | { readonly kind: 'unusable'; readonly track: TrackName; readonly why: Unusable }
  | { readonly kind: 'failed'; readonly track: TrackName; readonly error: Error }
  | { readonly kind: 'dropped'; readonly error: unknown; readonly delayMs: number }
  | { readonly kind: 'lag'; readonly lagMs: number };

/** After a process died. */
const START_AGAIN_MS = 1_000;

/** The process lives for as long as there is something to build. */
export class RebuildProcess implements TrackFollower {
  readonly name = 'rebuild';
  private lag = 0;
  /** Since when no process has got anything done; null while one does. */
  private idleSince: number | null = null;
  private stopped = false;
  private tracks: readonly Track[] = [];
  private readonly committed = new Map<Track, string | null>();
  private child: ChildProcess | null = null;
  private startingAgain: NodeJS.Timeout | undefined;
  private readonly exits = new Set<Promise<void>>();

  /** `begin` makes a process that runs `serveRebuilds`, and tells it its settings. */
  constructor(
    private readonly begin: () => ChildProcess,
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
    if (this.child === null) this.start();
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
    let child: ChildProcess;
    try {
      child = this.begin();
    } catch (error) {
      return this.startLater(error);
    }
    this.child = child;
    child.on('message', (message: FromProcess) => {
      if (child === this.child) this.heard(message);
    });
    const exit = new Promise<void>((resolve) => {
      const over = (error: Error): void => {
        this.exits.delete(exit);
        this.lost(child, error);
        resolve();
      };
      // It could not be started, and no exit follows.
      child.on('error', over);
      child.once('exit', (code, signal) =>
        over(new Error(`The process that builds read models ended by itself (${signal ?? code})`)),
      );
    });
    this.exits.add(exit);
    this.tell({ kind: 'assign', tracks: this.tracks.map(nameOf) });
  }

  private end(): void {
    clearTimeout(this.startingAgain);
    this.tell({ kind: 'end' });
    this.child = null;
    this.tracks = [];
    this.committed.clear();
    this.lag = 0;
    this.idleSince = null;
  }

  private lost(child: ChildProcess, error: unknown): void {
    if (child !== this.child) return;
    this.child = null;
    this.startLater(error);
  }

  private startLater(error: unknown): void {
    this.idleSince ??= performance.now();
    this.observer.dropped(this.name, error, START_AGAIN_MS);
    this.startingAgain = setTimeout(() => this.start(), START_AGAIN_MS);
  }

  private tell(message: ToProcess): void {
    // One that is dying or was never there hears nothing, and its end is told.
    if (this.child?.connected === true) this.child.send(message, () => undefined);
  }

  private heard(message: FromProcess): void {
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
    // The process follows it no more.
    this.tracks = this.tracks.filter((each) => each !== track);
    this.committed.delete(track);
    if (message.kind === 'unusable') this.listener.unusable(track, message.why);
    else this.listener.failed(track, message.error);
  }
}

/** The other process: builds what it is told to, under the leases of `token`, until it is told to end. */
export async function serveRebuilds(
  messages: AsyncIterable<unknown[]>,
  say: (message: FromProcess) => void,
  events: EventStore,
  store: ProjectionStore,
  projections: readonly AnyProjection[],
  token: string,
  throttle: Throttle,
): Promise<void> {
  const ending = new AbortController();
  const listener: CatchUpListener = {
    committed: (track, through, atEnd) => say({ kind: 'committed', track: nameOf(track), through, atEnd }),
    unusable: (track, why) => say({ kind: 'unusable', track: nameOf(track), why }),
    failed: (track, error) => say({ kind: 'failed', track: nameOf(track), error: plain(error) }),
  };
  const observer: SubscriptionObserver = {
    dropped: (_, error, delayMs) => say(dropped(error, delayMs)),
    lag: (_, lagMs) => say({ kind: 'lag', lagMs }),
  };
  const subscription = CatchUpSubscription.building(events, store, token, listener, observer, {
    pause: throttle.pause,
  });
  let tracks: readonly Track[] = [];
  const listen = async (): Promise<void> => {
    for await (const [message] of messages as AsyncIterable<[ToProcess]>) {
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
      else break;
    }
    throttle.end();
    ending.abort();
  };
  await Promise.all([subscription.run(ending.signal), listen()]);
}

function nameOf({ projection, generation }: Track): TrackName {
  return { projection: projection.name, generation };
}

function isNamed(track: Track, { projection, generation }: TrackName): boolean {
  return track.projection.name === projection && track.generation === generation;
}

/** What the other process says of an error; also of the one that it ends with. */
export function dropped(error: unknown, delayMs = START_AGAIN_MS): FromProcess {
  return { kind: 'dropped', error: error instanceof Error ? plain(error) : String(error), delayMs };
}

/** An error of a library may hold what cannot be cloned, and what must not be told. */
function plain({ message, stack = message }: Error): Error {
  return Object.assign(new Error(message), { stack });
}
