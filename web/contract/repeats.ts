// Decides when a failed call to the service is repeated. The frame and the host script use the same rules.

/** A failed call. */
export interface Failure {
  /** The value 0 means that no reply arrived. */
  readonly status: number;
  /** From Retry-After. */
  readonly retryAfterSeconds: number | null;
}

/** The service tells callers to wait 5 to 10 seconds before they repeat a 503, at most twice, and to repeat a 504 once. */
const PAUSES_MS: Readonly<Record<number, readonly number[]>> = {
  0: [500, 2_000],
  429: [1_000],
  502: [1_000, 3_000],
  503: [5_000, 10_000],
  504: [5_000],
};
/** After this time a waiting person sees a message and decides. */
const LONGEST_PAUSE_MS = 15_000;

/** The milliseconds before a call that was repeated `repeats` times is made again; null if it is not repeated. */
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
