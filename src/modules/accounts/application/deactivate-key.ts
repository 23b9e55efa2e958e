import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { Handling } from '../../../platform/handling/handling.js';
import { Handles, UseCase } from '../../../platform/handling/use-case.js';
import { accessKey } from '../domain/access-key.js';
import { contextOf } from './key-context.js';

/** For good. Secret and API keys stop at once, publishable keys within 30 seconds; tokens that were issued stay good until they expire. */
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
  constructor(private readonly handling: Handling) {}

  async execute({ keyId, context }: DeactivateKey): Promise<void> {
    const loaded = await this.handling.load(accessKey, keyId);
    await this.handling.handle(accessKey, keyId, { kind: 'deactivate' }, contextOf(loaded.state, context), loaded);
  }
}
