/** How long a test waits for something to be seen: long, for busy machines. */
export const PATIENCE_MS = 60_000;

type Condition = () => Promise<boolean> | boolean;

/** Waits for a condition, looking again soon after each answer; fails with what it waited for, by default the condition's own text. */
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

/** Repeats an assertion about what arrives in its own time until it holds; fails as it did at last. */
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
