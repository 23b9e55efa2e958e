// When a call of the service that has failed is made again. The frame and the host script do it alike.

/** How a call failed. */
export interface Failure {
  /** 0: no reply came. */
  readonly status: number;
  /** From Retry-After. */
  readonly retryAfterSeconds: number | null;
}

/** The service asks for 5 to 10 seconds before a 503 is repeated, twice at most, and for one repeat of a 504. */
const PAUSES_MS: Readonly<Record<number, readonly number[]>> = {
  0: [500, 2_000],
  429: [1_000],
  502: [1_000, 3_000],
  503: [5_000, 10_000],
  504: [5_000],
};
/** Somebody who waits is told after that time, and decides. */
const LONGEST_PAUSE_MS = 15_000;

/** Milliseconds before a call that was repeated `repeats` times is made again; null: it is not. */
export function pauseBeforeRepeat(repeats: number, { status, retryAfterSeconds }: Failure): number | null {
  const pauseMs = PAUSES_MS[status]?.[repeats];
  if (pauseMs === undefined) return null;
  const longEnoughMs = Math.max(pauseMs, (retryAfterSeconds ?? 0) * 1_000);
  return longEnoughMs > LONGEST_PAUSE_MS ? null : longEnoughMs;
}

export function retryAfterOf({ headers }: Response): number | null {
  const text = headers.get('Retry-After') ?? '';
  return /^\d{1,6}$/.test(text) ? Number(text) : null;
}
