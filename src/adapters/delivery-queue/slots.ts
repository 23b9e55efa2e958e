// Which attempts are under way, and which job is next. Keeps an endpoint that hangs from taking the room of the others.
import type { LaneName } from './lanes.js';
import type { Pace, Paces, Standing } from './pace.js';
import { WakingTime } from './waking-time.js';

export interface SlotRules {
  /** Attempts under way at endpoints of each standing, in this process. */
  readonly slots: Readonly<Record<Standing, number>>;
  /** Of these, at one endpoint. */
  readonly perEndpoint: Readonly<Record<Standing, number>>;
  /** Attempts that may go on without a slot, because they were overdue and gave it back. */
  readonly stragglers: number;
  /** Jobs of each lane that may wait in memory. */
  readonly parked: Readonly<Record<LaneName, number>>;
  /** Jobs of a slow endpoint that may wait in memory. Another may have as many as it answers in `lineMs`, or would at the least. */
  readonly slowLine: number;
  readonly lineMs: number;
  /** For how long a job is put off that finds no room in the slow lane, milliseconds. */
  readonly putOffMs: { readonly least: number; readonly most: number };
  /** An attempt that takes longer is given up for lost and its slot used again, milliseconds. */
  readonly lostMs: number;
}

/**
 * - `start`: now, and `Slots.ended` must be told when it is over.
 * - `move`: to the slow lane, at once.
 * - `put-off`: back into the slow lane, for `delayMs`.
 * - `hand-back`: these workers take no more.
 */
export type Turn =
  | { readonly kind: 'start'; readonly running: Running }
  | { readonly kind: 'move' | 'hand-back' }
  | { readonly kind: 'put-off'; readonly delayMs: number };

const MOVE: Turn = { kind: 'move' };
const HAND_BACK: Turn = { kind: 'hand-back' };

/** An attempt under way. */
export interface Running {
  readonly endpoint: Endpoint;
  /** Null when the slot was given back. */
  pool: Pool | null;
  /** In waking time. */
  readonly startedAt: number;
  overdue: boolean;
  over: boolean;
  /** Called when the attempt has taken longer than any attempt can. */
  lost: () => void;
}

interface Parked {
  readonly lane: LaneName;
  turn(turn: Turn): void;
}

/** One endpoint's jobs in memory. */
interface Endpoint {
  readonly id: string;
  readonly pace: Pace;
  line: Parked[];
  /** When the last of those that were put off is likely to have its turn. */
  putOffUntil: number;
}

interface Pool {
  free: number;
  readonly perEndpoint: number;
  /** Endpoints whose next job can start as soon as a slot is free; they take turns. */
  readonly hungry: Set<Endpoint>;
}

const STANDINGS = ['fast', 'unproven', 'slow'] as const satisfies readonly Standing[];

/** Whose slots a job may have, by its lane and its endpoint's standing. What waits in memory may have those of the slow lane. */
const POOLS: Readonly<Record<LaneName, Readonly<Record<Standing, readonly Standing[]>>>> = {
  fast: { fast: ['fast'], unproven: ['unproven'], slow: [] },
  slow: { fast: ['fast'], unproven: ['unproven', 'slow'], slow: ['slow'] },
};

const FORGET_EVERY_MS = 60_000;

/**
 * A job is told its turn once. One of a fast endpoint waits here for a slot, however full its endpoint is, and so does one of an
 * unproven endpoint, which is proven by its first answers. One from the fast lane whose endpoint is slow, or turns out to be, is
 * moved to the slow lane, where it waits here as well, up to a limit, and beyond it is put off for as long as its turn is likely to
 * take, or until its endpoint is fast again.
 */
export class Slots {
  private readonly endpoints = new Map<string, Endpoint>();
  private readonly pools: Readonly<Record<Standing, Pool>>;
  private readonly parked: Record<LaneName, number> = { fast: 0, slow: 0 };
  /** In the order of their starts. */
  private readonly running = new Set<Running>();
  /** Endpoints of whose jobs some were put off. */
  private readonly absent = new Set<Endpoint>();
  private stragglers = 0;
  private closed = false;
  private readonly timer: NodeJS.Timeout;
  private forgotAt = performance.now();
  private readonly waking: WakingTime;

  constructor(
    private readonly rules: SlotRules,
    private readonly paces: Paces,
    /**
     * Called again and again while an endpoint is fast of whose jobs some were put off, with the number for which there is room, until it
     * answers that there are none left.
     */
    private readonly recall: (endpointId: string, room: number) => boolean,
  ) {
    const pool = (name: Standing): Pool => ({
      free: rules.slots[name],
      perEndpoint: rules.perEndpoint[name],
      hungry: new Set(),
    });
    this.pools = { fast: pool('fast'), slow: pool('slow'), unproven: pool('unproven') };
    const everyMs = Math.max(5, paces.rules.overdueMs / 4);
    this.waking = new WakingTime(everyMs);
    this.timer = setInterval(() => this.look(performance.now()), everyMs);
    this.timer.unref();
  }

  ask(endpointId: string, lane: LaneName): Turn | Promise<Turn> {
    if (this.closed) return HAND_BACK;
    const now = performance.now();
    const endpoint = this.endpoint(endpointId);
    const standing = endpoint.pace.standing(now);
    for (const name of POOLS[lane][standing]) {
      const pool = this.pools[name];
      // While a slot is free, nobody who could have it is waiting for it.
      if (pool.free > 0 && endpoint.pace.running < pool.perEndpoint) return this.start(endpoint, pool);
    }
    if (lane === 'fast' && standing === 'slow') return MOVE;
    if (endpoint.line.length < this.longestLine(endpoint, standing, now) && this.parked[lane] < this.rules.parked[lane])
      return this.park(endpoint, lane, now);
    if (lane === 'fast') return MOVE;
    this.absent.add(endpoint);
    return { kind: 'put-off', delayMs: this.delayOf(endpoint, standing, now) };
  }

  /** `answer` is null when nothing was sent, which says nothing of the endpoint. */
  ended(running: Running, answer: { readonly latencyMs: number; readonly timedOut: boolean } | null): void {
    if (running.over) return;
    running.over = true;
    const now = performance.now();
    const { endpoint, pool } = running;
    this.running.delete(running);
    endpoint.pace.running--;
    if (running.overdue) endpoint.pace.overdue--;
    if (pool === null) this.stragglers--;
    else pool.free++;
    const ageMs = this.waking.now() - running.startedAt;
    // What took longer than that was waiting for us.
    if (answer !== null)
      endpoint.pace.heard(ageMs < answer.latencyMs ? { latencyMs: ageMs, timedOut: false } : answer, now);
    this.settle(endpoint, now);
    if (pool !== null) this.feed(pool);
  }

  /** Whatever waits is handed back, and whatever asks from now on. */
  close(): void {
    this.closed = true;
    for (const endpoint of this.endpoints.values()) this.dismiss(endpoint, () => true, HAND_BACK);
    for (const { hungry } of Object.values(this.pools)) hungry.clear();
  }

  /** Nothing is looked after any more. */
  stop(): void {
    clearInterval(this.timer);
  }

  private endpoint(id: string): Endpoint {
    let endpoint = this.endpoints.get(id);
    if (endpoint === undefined)
      this.endpoints.set(id, (endpoint = { id, pace: this.paces.of(id), line: [], putOffUntil: 0 }));
    return endpoint;
  }

  private start(endpoint: Endpoint, pool: Pool): Turn {
    const running: Running = {
      endpoint,
      pool,
      startedAt: this.waking.now(),
      overdue: false,
      over: false,
      lost: () => undefined,
    };
    pool.free--;
    endpoint.pace.running++;
    this.running.add(running);
    return { kind: 'start', running };
  }

  private park(endpoint: Endpoint, lane: LaneName, now: number): Promise<Turn> {
    return new Promise((turn) => {
      this.parked[lane]++;
      endpoint.line.push({ lane, turn });
      this.settle(endpoint, now);
    });
  }

  private longestLine({ pace }: Endpoint, standing: Standing, now: number): number {
    if (standing === 'slow') return this.rules.slowLine;
    return Math.max(this.rules.slowLine, (this.rules.perEndpoint.fast / pace.expectedMs(now)) * this.rules.lineMs);
  }

  /** Until what is before it has probably been done, so that it comes back about once. */
  private delayOf(endpoint: Endpoint, standing: Standing, now: number): number {
    const { least, most } = this.rules.putOffMs;
    // Of an unproven one more is known by then.
    if (standing !== 'slow') return least;
    const eachMs = endpoint.pace.expectedMs(now) / this.rules.perEndpoint.slow;
    const turnAt =
      Math.max(endpoint.putOffUntil, now + (endpoint.line.length + endpoint.pace.running) * eachMs) + eachMs;
    if (turnAt <= now + most) endpoint.putOffUntil = turnAt;
    return Math.min(most, Math.max(least, Math.ceil(turnAt - now)));
  }

  /** After anything that may have changed what an endpoint's line waits for. */
  private settle(endpoint: Endpoint, now: number): void {
    const standing = endpoint.pace.standing(now);
    if (standing === 'slow') this.dismiss(endpoint, ({ lane }) => lane === 'fast', MOVE);
    for (const name of STANDINGS) {
      const pool = this.pools[name];
      if (!POOLS.slow[standing].includes(name)) pool.hungry.delete(endpoint);
      else if (endpoint.line.length > 0 && endpoint.pace.running < pool.perEndpoint) pool.hungry.add(endpoint);
    }
    for (const name of POOLS.slow[standing]) this.feed(this.pools[name]);
  }

  private feed(pool: Pool): void {
    while (pool.free > 0) {
      const [endpoint] = pool.hungry;
      if (endpoint === undefined) return;
      // To the end of the row, unless it has had enough.
      pool.hungry.delete(endpoint);
      const parked = endpoint.pace.running < pool.perEndpoint ? endpoint.line.shift() : undefined;
      if (parked === undefined) continue;
      this.parked[parked.lane]--;
      parked.turn(this.start(endpoint, pool));
      if (endpoint.line.length > 0 && endpoint.pace.running < pool.perEndpoint) pool.hungry.add(endpoint);
    }
  }

  private dismiss(endpoint: Endpoint, which: (parked: Parked) => boolean, turn: Turn): void {
    const leaving = endpoint.line.filter(which);
    if (leaving.length === 0) return;
    endpoint.line = endpoint.line.filter((parked) => !which(parked));
    for (const parked of leaving) {
      this.parked[parked.lane]--;
      parked.turn(turn);
    }
  }

  /**
   * An endpoint that was fast and has begun to hang is found out here, before any of its attempts has ended: its line leaves
   * and its slots are for the others, while its attempts go on.
   */
  private look(now: number): void {
    const awake = this.waking.now();
    for (const running of this.running) {
      const ageMs = awake - running.startedAt;
      if (ageMs < this.paces.rules.overdueMs) break;
      if (ageMs >= this.rules.lostMs) {
        running.lost();
        this.ended(running, { latencyMs: ageMs, timedOut: true });
      } else {
        if (!running.overdue) this.markOverdue(running, now);
        if (running.pool !== null && running.pool !== this.pools.slow) this.takeBackSlot(running, running.pool);
      }
    }
    for (const endpoint of this.absent) {
      if (endpoint.pace.standing(now) !== 'fast') continue;
      endpoint.putOffUntil = 0;
      const room = Math.min(
        this.longestLine(endpoint, 'fast', now) - endpoint.line.length,
        this.rules.parked.slow - this.parked.slow,
      );
      if (room >= 1 && !this.recall(endpoint.id, Math.floor(room))) this.absent.delete(endpoint);
    }
    if (now - this.forgotAt < FORGET_EVERY_MS) return;
    this.forgotAt = now;
    for (const endpoint of this.endpoints.values()) {
      const { id, pace, line } = endpoint;
      if (line.length > 0 || pace.running > 0 || pace.remembered(now)) continue;
      this.endpoints.delete(id);
      this.absent.delete(endpoint);
      this.paces.forget(id);
    }
  }

  private markOverdue(running: Running, now: number): void {
    running.overdue = true;
    running.endpoint.pace.overdue++;
    this.settle(running.endpoint, now);
  }

  private takeBackSlot(running: Running, pool: Pool): void {
    if (this.stragglers >= this.rules.stragglers) return;
    this.stragglers++;
    running.pool = null;
    pool.free++;
    this.feed(pool);
  }
}
