import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { accessKey } from '../domain/access-key.js';
import { contextOf } from './key-context.js';

/**
 * Deactivates a key permanently. Secret and API keys stop working at once, publishable keys within 30 seconds. Tokens that were already issued stay
 * valid until they expire.
 */
@UseCase()
export class DeactivateKey extends Command<void> {
  constructor(
    readonly keyId: string,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(DeactivateKey)
export class DeactivateKeyHandler implements ICommandHandler<DeactivateKey> {
  constructor(private readonly aggregates: AggregateStore) {}

  async execute({ keyId, context }: DeactivateKey): Promise<void> {
    const loaded = await this.aggregates.load(accessKey, keyId);
    await this.aggregates.execute(
      accessKey,
      { id: keyId, known: loaded },
      { kind: 'deactivate' },
      contextOf(loaded.state, context),
    );
  }
}
