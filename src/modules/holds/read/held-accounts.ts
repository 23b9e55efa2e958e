import { Injectable } from '@nestjs/common';
import { exhaustiveEvents, type Projection } from '../../../kernel/projection.js';
import { ReadModels } from '../../../ports/read-models.js';
import { accountHolds, endOf, type AccountHoldsEvent, type AccountHoldsState } from '../domain/account-holds.js';

const known = exhaustiveEvents<AccountHoldsEvent>('held_accounts', {
  HoldPlaced: true,
  HoldReleased: true,
  ErasureDeferred: true,
  DeferredErasureDone: true,
});

/** The accounts that have or had a hold. A deferred erasure is due when its holds have ended. */
export const heldAccounts: Projection<AccountHoldsState> = {
  name: 'held_accounts',
  version: 1,
  category: accountHolds.category,
  evolve: (state, event) => accountHolds.evolve(state ?? accountHolds.initial, known(event)),
  view: (state) => state,
  entries: () => [{ list: 'all' }],
  dueAt: (state) =>
    state.deferred
      .map((one) => endOf(state, one))
      .filter((end) => end !== null)
      .sort()[0] ?? null,
};

@Injectable()
export class HeldAccounts {
  constructor(private readonly readModels: ReadModels) {}

  /** The ids of accounts with deferred erasures whose holds have ended, the earliest first. */
  due(now: Date, limit: number): Promise<string[]> {
    return this.readModels.due(heldAccounts, now, limit);
  }
}
