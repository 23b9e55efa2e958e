import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { accessKey } from '../domain/access-key.js';
import { contextOf } from './key-context.js';

/** Replaces the list of origins at which a publishable key may be used. */
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
  constructor(private readonly aggregates: AggregateStore) {}

  async execute({ keyId, allowedOrigins, context }: AllowOrigins): Promise<void> {
    const loaded = await this.aggregates.load(accessKey, keyId);
    await this.aggregates.execute(
      accessKey,
      { id: keyId, known: loaded },
      { kind: 'allow-origins', allowedOrigins },
      contextOf(loaded.state, context),
    );
  }
}
