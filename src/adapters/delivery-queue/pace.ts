// How fast endpoints answer, as far as this process has seen. Processes need not agree: each protects its own workers.

/** `unproven`: nothing heard of late. */
export type Standing = 'fast' | 'slow' | 'unproven';

export interface PaceRules {
  /** An endpoint whose answers take less than this on average is fast, milliseconds. */
  readonly fastBelowMs: number;
  /** An attempt that has been under way this long speaks against its endpoint before it ends, milliseconds. */
  readonly overdueMs: number;
  /** How long after the last answer anything is known of an endpoint, milliseconds. */
  readonly rememberMs: number;
}

/** What one answer weighs in the average: two time-outs in a row make a fast endpoint slow, some twenty quick answers make it fast again. */
const WEIGHT = 0.1;
/** The worst that one answer can say, in multiples of `fastBelowMs`. */
const WORST = 8;
/** While a larger share of an endpoint's attempts is overdue, it counts as slow. One straggler among many says nothing. */
const OVERDUE_SHARE = 1 / 4;

/** Of one endpoint. Times are of `performance.now()`. */
export class Pace {
  /** Attempts under way. */
  running = 0;
  /** Those of them that are overdue. */
  overdue = 0;
  private meanMs = 0;
  private heardAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly rules: PaceRules) {}

  standing(now: number): Standing {
    if (this.overdue > this.running * OVERDUE_SHARE) return 'slow';
    if (!this.remembered(now)) return 'unproven';
    return this.meanMs < this.rules.fastBelowMs ? 'fast' : 'slow';
  }

  heard({ latencyMs, timedOut }: { readonly latencyMs: number; readonly timedOut: boolean }, now: number): void {
    const worst = this.rules.fastBelowMs * WORST;
    const sample = timedOut ? worst : Math.min(latencyMs, worst);
    this.meanMs = this.remembered(now) ? this.meanMs + (sample - this.meanMs) * WEIGHT : sample;
    this.heardAt = now;
  }

  /** Milliseconds that an answer takes, or may take as long as none was heard; at least 1. */
  expectedMs(now: number): number {
    return Math.max(1, this.remembered(now) ? this.meanMs : this.rules.fastBelowMs);
  }

  remembered(now: number): boolean {
    return now - this.heardAt <= this.rules.rememberMs;
  }
}

const DEFAULT_RULES: PaceRules = { fastBelowMs: 500, overdueMs: 1_000, rememberMs: 300_000 };

export class Paces {
  readonly rules: PaceRules;
  private readonly paces = new Map<string, Pace>();

  constructor(rules: Partial<PaceRules> = {}) {
    this.rules = { ...DEFAULT_RULES, ...rules };
  }

  of(endpointId: string): Pace {
    let pace = this.paces.get(endpointId);
    if (pace === undefined) this.paces.set(endpointId, (pace = new Pace(this.rules)));
    return pace;
  }

  isSlow(endpointId: string): boolean {
    return this.paces.get(endpointId)?.standing(performance.now()) === 'slow';
  }

  /** Endpoints that are gone take no memory. */
  forget(endpointId: string): void {
    this.paces.delete(endpointId);
  }
}
