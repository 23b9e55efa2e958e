import { randomBytes } from 'node:crypto';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { Environment } from '../../../kernel/environment.js';
import { newId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { account } from '../domain/account.js';
import { accessKey, type KeyUse } from '../domain/access-key.js';
import { hashKey, writeKey } from '../domain/key-text.js';

export interface IssuedKeyText {
  readonly keyId: string;
  /** The key is shown only once, because the service stores only its hash. */
  readonly key: string;
}

@UseCase()
export class IssueKey extends Command<IssuedKeyText> {
  constructor(
    readonly request: {
      readonly accountId: string;
      readonly environment: Environment;
      readonly use: KeyUse;
    },
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(IssueKey)
export class IssueKeyHandler implements ICommandHandler<IssueKey> {
  constructor(private readonly aggregates: AggregateStore) {}

  async execute({ request: { accountId, environment, use }, context }: IssueKey): Promise<IssuedKeyText> {
    const { state } = await this.aggregates.load(account, accountId);
    if (state.status !== 'open') throw new DomainError('request.not_found', { field: 'account' });
    const keyId = newId();
    const key = writeKey(use.kind, environment, keyId, randomBytes(32));
    const command = { kind: 'issue', accountId, environment, use, keyHash: hashKey(key) } as const;
    await this.aggregates.execute(accessKey, keyId, command, { ...context, accountId, environment });
    return { keyId, key };
  }
}
