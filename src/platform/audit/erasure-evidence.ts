import type { ActionContext } from '../../kernel/context.js';
import type { EventStore } from '../../ports/event-store.js';

/** Records in the log the erasures that only the vault records so far. This class is also the injection token. */
export abstract class ErasureEvidence {
  /** Reads the whole log. Safe to repeat. */
  abstract record(
    store: EventStore,
    isErased: (subject: string) => boolean,
    by: Pick<ActionContext, 'actor' | 'correlationId' | 'causationId'>,
  ): Promise<void>;
}
