import { Injectable } from '@nestjs/common';
import { CompleteLists } from '../platform/subscriptions/complete-lists.js';
import { Projector } from '../platform/subscriptions/projector.js';
import { EventStore } from '../ports/event-store.js';
import { type AnyProjection, ProjectionStore } from '../ports/projection-store.js';
import { Progress, WrongInput } from './operator.js';

/** The service and `ops projections rebuild` report problems of a projection, so this command does not. */
const SILENT = {
  dropped: () => undefined,
  lag: () => undefined,
  stopped: () => undefined,
  buildStarted: () => undefined,
  rebuilt: () => undefined,
  leasesFailed: () => undefined,
};

/** Complete lists for an operator. If no service runs, this process projects the missing events itself. */
@Injectable()
export class OperatorLists {
  constructor(
    private readonly events: EventStore,
    private readonly store: ProjectionStore,
    private readonly lists: CompleteLists,
  ) {}

  async idsIn(projection: AnyProjection, list: string): Promise<string[]> {
    return this.complete(projection, () => this.lists.idsIn(projection, list));
  }

  /** Reads lists that hold everything written before the command. */
  async complete<Result>(projection: AnyProjection, read: () => Promise<Result>): Promise<Result> {
    // The process with the lease does the work: a running service, or else this process.
    const projector = new Projector(this.events, this.store, [projection], SILENT);
    const progress = new Progress();
    projector.start();
    try {
      while (!(await this.lists.caughtUp(projection))) {
        if (projector.status().some(({ state }) => state === 'stopped'))
          throw new WrongInput(`The projection ${projection.name} cannot read an event of the log.`);
        progress.told(() => `The read models are behind the log. Waiting for them.`);
      }
      return await read();
    } finally {
      await projector.stop();
    }
  }
}
