/** The longest time that a test waits for something to be seen. It is long, for busy machines. */
export const PATIENCE_MS = 60_000;

type Condition = () => Promise<boolean> | boolean;

/**
 * Waits for a condition, and checks it again soon after each answer. The error names the awaited condition. By default that is the text of
 * its code.
 */
export function until(what: string, holds: Condition, withinMs?: number): Promise<void>;
export function until(holds: Condition): Promise<void>;
export async function until(one: string | Condition, other?: Condition, withinMs = PATIENCE_MS): Promise<void> {
  const [what, holds] = typeof one === 'string' ? [one, other as Condition] : [String(one), one];
  const deadline = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Waited ${withinMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Repeats an assertion until it holds, for results that take their own time. Fails with the error of the last try. */
export async function soon(assertion: () => Promise<void>): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; ;) {
    try {
      return await assertion();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
