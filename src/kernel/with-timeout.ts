/** The value; null when the work failed, gave null, or took longer. */
export function withTimeout<Value>(limitMs: number, work: Promise<Value>): Promise<Value | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs, null);
    const settle = (value: Value | null): void => {
      clearTimeout(timer);
      resolve(value);
    };
    work.then(settle, () => settle(null));
  });
}
