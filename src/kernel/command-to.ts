import type { Decider } from './decider.js';
import type { DomainEvent } from './domain-event.js';
import type { LoadedAggregate } from './loaded-aggregate.js';

export type AnyDecider = Decider<unknown, unknown, DomainEvent>;

/** A command to one aggregate, which may be appended together with commands to others. It is data: the decider alone decides. */
export interface CommandTo<Of extends AnyDecider> {
  readonly decider: Of;
  readonly id: string;
  readonly command: Parameters<Of['decide']>[0];
  /** The aggregate as the caller has seen it, to spare the first read. */
  readonly known?: LoadedAggregate<Of['initial']> | undefined;
}
