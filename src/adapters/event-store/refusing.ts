// The log of a process that must append nothing, because the process only reads or because the log has a fault.
import type { AppendOutcome, EventStore, TogetherOutcome } from '../../ports/event-store.js';
import { EventStoreDecorator } from '../../ports/event-store-decorator.js';

export class RefusingEventStore extends EventStoreDecorator {
  constructor(
    store: EventStore,
    /** The reason why appends are refused; null if they are allowed. */
    private readonly refusal: () => Promise<Error | null>,
  ) {
    super(store);
  }

  override async append(...appended: Parameters<EventStore['append']>): Promise<AppendOutcome> {
    return (await this.unlessRefused()).append(...appended);
  }

  override async appendTogether(...appended: Parameters<EventStore['appendTogether']>): Promise<TogetherOutcome> {
    return (await this.unlessRefused()).appendTogether(...appended);
  }

  private async unlessRefused(): Promise<EventStore> {
    const refusal = await this.refusal();
    if (refusal !== null) throw refusal;
    return this.store;
  }
}
