// Legal holds, for the modules that destroy keys of the vault. Source: docs/operations/holds-and-retention.md.
import type { ActionContext } from '../kernel/context.js';
import { DomainError } from '../kernel/domain-error.js';
import type { Erasure, HeldData } from '../kernel/held-data.js';

/** A session that a hold may cover. Its data is stored under a vault subject. */
export interface HeldSession {
  readonly accountId: string;
  readonly sessionId: string;
  readonly subjectId: string;
}

export interface StandingHold {
  readonly holdId: string;
  readonly matter: string;
}

/** The holds module, for other modules. */
export abstract class Holds {
  /** The holds that cover any of the data now, read from the log. */
  abstract covering(data: HeldData): Promise<readonly StandingHold[]>;

  /** Like `covering`. If a hold covers the data, the erasure is also remembered, and is done when no hold covers the data any more. Safe to repeat. */
  abstract defer(erasure: Erasure, context: ActionContext): Promise<readonly StandingHold[]>;

  /** Records that a remembered erasure is done. Does nothing for other erasures. */
  abstract erased(erasure: Pick<Erasure, 'kind' | 'id' | 'accountId'>, context: ActionContext): Promise<void>;

  /** Comes before the destruction of a key. Throws `request.invalid` with a message for the operator if a hold covers the data. */
  async refuseIfHeld(erasure: Erasure, context: ActionContext): Promise<void> {
    const [hold] = await this.defer(erasure, context);
    if (hold === undefined) return;
    const message = `The legal hold ${hold.holdId} (${hold.matter}) covers this data, so nothing was erased. The erasure is remembered, and is done when the hold ends: ops hold list ${erasure.accountId}.`;
    throw new DomainError('request.invalid', { field: 'hold', details: [{ field: 'hold', message }] });
  }
}

/** A module's own part of an erasure that a hold has deferred. Every module that calls `Holds.defer` provides one for its kind. */
export class Erasable {
  constructor(
    readonly kind: Erasure['kind'],
    /** Null if the module has no such session. */
    readonly find: (sessionId: string) => Promise<HeldSession | null>,
    /** Erases the data, or defers the erasure again if another hold covers the data by now. Safe to repeat. */
    readonly erase: (id: string, context: ActionContext) => Promise<unknown>,
  ) {}
}
