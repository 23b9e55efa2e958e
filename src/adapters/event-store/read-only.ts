// The log of a process that may look and must append nothing.
import { DomainError } from '../../kernel/domain-error.js';
import type { AppendOutcome, TogetherOutcome } from '../../ports/event-store.js';
import { EventStoreDecorator } from '../../ports/event-store-decorator.js';

export class ReadOnlyEventStore extends EventStoreDecorator {
  override async append(): Promise<AppendOutcome> {
    throw new DomainError('service.read_only');
  }

  override async appendTogether(): Promise<TogetherOutcome> {
    throw new DomainError('service.read_only');
  }
}
