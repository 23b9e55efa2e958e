// The functions for every time limit of the service.

/** Returns the result of the work, or of `late` after `limit`: milliseconds, or the abort of a signal. The work continues. */
export function within<Value, Late>(
  limit: number | AbortSignal,
  work: Promise<Value>,
  late: () => Late | Promise<Late>,
): Promise<Value | Late> {
  return new Promise((resolve, reject) => {
    const over = (): void => resolve(Promise.resolve().then(late));
    const timer = typeof limit === 'number' ? setTimeout(over, limit) : undefined;
    const signal = typeof limit === 'number' ? undefined : limit;
    if (signal?.aborted) over();
    signal?.addEventListener('abort', over, { once: true });
    const inTime = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', over);
    };
    work.finally(inTime).then(resolve, reject);
  });
}

/** The value; null if the work failed, returned null, or took too long. */
export function withTimeout<Value>(limitMs: number, work: Promise<Value>): Promise<Value | null> {
  return within(limitMs, work, () => null).catch(() => null);
}

/**
 * Runs `work` with a signal that aborts after the limit or when a signal of `earlier` aborts. Node 20 may lose the time limit of an `AbortSignal.any`
 * when it collects garbage.
 */
export async function limited<Value>(
  limitMs: number,
  earlier: AbortSignal | readonly AbortSignal[] = [],
  work: (limit: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const limit = new AbortController();
  const end = (): void => limit.abort();
  const timer = setTimeout(end, limitMs);
  const signals = [earlier].flat();
  if (signals.some(({ aborted }) => aborted)) end();
  for (const signal of signals) signal.addEventListener('abort', end, { once: true });
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener('abort', end);
  }
}
