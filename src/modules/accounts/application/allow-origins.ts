import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { Handling } from '../../../platform/handling/handling.js';
import { Handles, UseCase } from '../../../platform/handling/use-case.js';
import { accessKey } from '../domain/access-key.js';
import { contextOf } from './key-context.js';

/** Replaces the list of a publishable key's allowed origins. */
@UseCase()
export class AllowOrigins extends Command<void> {
  constructor(
    readonly keyId: string,
    readonly allowedOrigins: readonly string[],
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(AllowOrigins)
export class AllowOriginsHandler implements ICommandHandler<AllowOrigins> {
  constructor(private readonly handling: Handling) {}

  async execute({ keyId, allowedOrigins, context }: AllowOrigins): Promise<void> {
    const loaded = await this.handling.load(accessKey, keyId);
    await this.handling.handle(
      accessKey,
      keyId,
      { kind: 'allow-origins', allowedOrigins },
      contextOf(loaded.state, context),
      loaded,
    );
  }
}
