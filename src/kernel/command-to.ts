import type { Decider } from './decider.js';
import type { DomainEvent } from './domain-event.js';
import type { LoadedAggregate } from './loaded-aggregate.js';

export type AnyDecider = Decider<unknown, unknown, DomainEvent>;

/** A command to one aggregate. The command's events can be appended together with commands to other aggregates. */
export interface CommandTo<Of extends AnyDecider> {
  readonly decider: Of;
  readonly id: string;
  readonly command: Parameters<Of['decide']>[0];
  /** The aggregate in the state that the caller has seen, which saves the first read. */
  readonly known?: LoadedAggregate<Of['initial']> | undefined;
}
