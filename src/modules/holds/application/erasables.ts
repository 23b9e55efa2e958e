import type { ActionContext } from '../../../kernel/context.js';
import type { Erasure } from '../../../kernel/held-data.js';
import type { Erasable, HeldSession } from '../../../published/holds.js';

/** The parts of all modules that erase data; also the injection token. */
export class Erasables {
  constructor(private readonly all: () => readonly Erasable[]) {}

  /** A screening, or an income session without one; null if no module has that session. */
  async find(sessionId: string): Promise<HeldSession | null> {
    for (const one of this.all()) {
      const found = await one.find(sessionId);
      if (found !== null) return found;
    }
    return null;
  }

  async erase({ kind, id }: Pick<Erasure, 'kind' | 'id'>, context: ActionContext): Promise<void> {
    const erasable = this.all().find((one) => one.kind === kind);
    if (erasable === undefined) throw new Error(`No module of this process erases a ${kind}.`);
    await erasable.erase(id, context);
  }
}
