// How fast endpoints answer, as far as this process has seen. Processes need not agree: each learns from its own attempts.

/** `unknown`: no answer of late. */
export type Standing = 'fast' | 'unknown' | 'slow';

/** What a receiver did. */
export interface Answer {
  readonly latencyMs: number;
  readonly timedOut: boolean;
}

export interface LatencyRules {
  /** An endpoint whose answers take less than this on average is fast, milliseconds. */
  readonly fastBelowMs: number;
  /** An attempt that has been under way this long speaks against its endpoint before it ends, milliseconds. */
  readonly overdueMs: number;
  /** How long after the last answer anything is known of an endpoint, milliseconds. */
  readonly rememberMs: number;
}

export interface TrackedAttempt {
  readonly endpoint: Endpoint;
  readonly startedTick: number;
  overdue: boolean;
}

interface Endpoint {
  readonly id: string;
  running: number;
  overdue: number;
  meanMs: number;
  heardAt: number;
}

const DEFAULT_RULES: LatencyRules = { fastBelowMs: 500, overdueMs: 1_000, rememberMs: 300_000 };
/** What one answer weighs in the average: two time-outs in a row make a fast endpoint slow, some twenty quick answers make it fast again. */
const WEIGHT = 0.1;
/** The worst that one answer can say, in multiples of `fastBelowMs`. */
const WORST = 8;
/** While a larger share of an endpoint's attempts is overdue, it counts as slow. One straggler among many says nothing. */
const OVERDUE_SHARE = 1 / 4;
const TICKS_UNTIL_OVERDUE = 4;
const MOST_ENDPOINTS = 10_000;

/**
 * The circuit breaker of each endpoint: slow answers, and attempts that hang, open it before they have ended; quick answers close
 * it. Time is counted in ticks of a timer: while the process stands still (no processor, a blocked event loop), one tick passes,
 * so that an endpoint is not blamed for time in which its answer could not have been taken.
 */
export class LatencyTracker {
  private readonly rules: LatencyRules;
  private readonly tickMs: number;
  private readonly endpoints = new Map<string, Endpoint>();
  /** In the order of their starts. */
  private readonly underWay = new Set<TrackedAttempt>();
  private ticks = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(rules: Partial<LatencyRules> = {}) {
    this.rules = { ...DEFAULT_RULES, ...rules };
    this.tickMs = this.rules.overdueMs / TICKS_UNTIL_OVERDUE;
  }

  standing(endpointId: string): Standing {
    const endpoint = this.endpoints.get(endpointId);
    if (endpoint === undefined) return 'unknown';
    if (endpoint.overdue > endpoint.running * OVERDUE_SHARE) return 'slow';
    if (!this.remembered(endpoint)) return 'unknown';
    return endpoint.meanMs < this.rules.fastBelowMs ? 'fast' : 'slow';
  }

  /** Every attempt that began must end. */
  begin(endpointId: string): TrackedAttempt {
    const endpoint = this.endpoint(endpointId);
    const attempt = { endpoint, startedTick: this.ticks, overdue: false };
    endpoint.running++;
    this.underWay.add(attempt);
    this.timer ??= setInterval(() => this.tick(), this.tickMs).unref();
    return attempt;
  }

  /** `answer` is null when nothing was sent, which says nothing of the endpoint. */
  end(attempt: TrackedAttempt, answer: Answer | null): void {
    const { endpoint, startedTick, overdue } = attempt;
    this.underWay.delete(attempt);
    endpoint.running--;
    if (overdue) endpoint.overdue--;
    if (answer !== null) {
      const worst = this.rules.fastBelowMs * WORST;
      const latencyMs = answer.timedOut ? worst : answer.latencyMs;
      // What took longer by the clock than by the ticks was waiting for this process.
      this.heard(endpoint, Math.min(latencyMs, worst, (this.ticks - startedTick + 1) * this.tickMs));
    }
    if (this.underWay.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private heard(endpoint: Endpoint, latencyMs: number): void {
    endpoint.meanMs = this.remembered(endpoint) ? endpoint.meanMs + (latencyMs - endpoint.meanMs) * WEIGHT : latencyMs;
    endpoint.heardAt = performance.now();
  }

  private remembered({ heardAt }: Endpoint): boolean {
    return performance.now() - heardAt <= this.rules.rememberMs;
  }

  private endpoint(id: string): Endpoint {
    let endpoint = this.endpoints.get(id);
    if (endpoint !== undefined) return endpoint;
    if (this.endpoints.size >= MOST_ENDPOINTS) this.forgetIdle();
    endpoint = { id, running: 0, overdue: 0, meanMs: 0, heardAt: Number.NEGATIVE_INFINITY };
    this.endpoints.set(id, endpoint);
    return endpoint;
  }

  private forgetIdle(): void {
    for (const { id, running } of this.endpoints.values()) if (running === 0) this.endpoints.delete(id);
  }

  private tick(): void {
    this.ticks++;
    for (const attempt of this.underWay) {
      if (this.ticks - attempt.startedTick < TICKS_UNTIL_OVERDUE) break;
      if (attempt.overdue) continue;
      attempt.overdue = true;
      attempt.endpoint.overdue++;
    }
  }
}
