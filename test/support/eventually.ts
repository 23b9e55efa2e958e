/**
 * The longest time for which a test waits until a result can be seen. The time is long, because machines may be busy.
 */
export const PATIENCE_MS = 60_000;

type Condition = () => Promise<boolean> | boolean;

/**
 * Waits for a condition, and checks it again soon after each answer. The error names the awaited condition. The default
 * name is the text of the condition's code.
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

/** Repeats an assertion until it passes, for results that arrive later. Fails with the error of the last try. */
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
