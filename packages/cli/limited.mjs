/** Runs `work` with a signal that aborts after the limit or when `earlier` aborts. Node 20 may lose the time limit of an `AbortSignal.any`. */
export async function limited(limitMs, earlier, work) {
  const limit = new AbortController();
  const late = () => limit.abort(Object.assign(new Error('The time limit has passed'), { name: 'TimeoutError' }));
  const end = () => limit.abort(earlier.reason);
  const timer = setTimeout(late, limitMs);
  if (earlier?.aborted) end();
  earlier?.addEventListener('abort', end, { once: true });
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
    earlier?.removeEventListener('abort', end);
  }
}
