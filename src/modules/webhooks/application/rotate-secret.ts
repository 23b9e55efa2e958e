import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { current, webhookEndpoint } from '../domain/endpoint.js';
import { secretText } from '../domain/signature.js';
import { EndpointChanges } from './endpoint-changes.js';
import { EndpointSecrets } from './endpoint-secrets.js';

export interface RotatedSecret {
  /** As it is shown this once. */
  readonly secret: string;
  /** Until then the one before signs as well, ISO 8601 UTC. */
  readonly previousExpiresAt: string;
}

/** The new secret signs at once. Asked for again under the same `secretId`, it is the same rotation: the receiver's secret stays the previous one. */
@UseCase()
export class RotateSecret extends Command<RotatedSecret> {
  constructor(
    readonly endpointId: string,
    readonly secretId: string,
    readonly previousValidForSeconds: number,
    readonly context: ActionContext & { readonly accountId: string },
  ) {
    super();
  }
}

@Handles(RotateSecret)
export class RotateSecretHandler implements ICommandHandler<RotateSecret> {
  constructor(
    private readonly streams: GroupedStream,
    private readonly endpoints: EndpointChanges,
    private readonly secrets: EndpointSecrets,
    private readonly clock: Clock,
  ) {}

  async execute({ endpointId, secretId, previousValidForSeconds, context }: RotateSecret): Promise<RotatedSecret> {
    const { accountId } = context;
    current((await this.streams.load(webhookEndpoint, accountId)).state, endpointId);
    await this.endpoints.admit(accountId);
    const secret = await this.secrets.create(accountId, secretId);
    const previousExpiresAt = new Date(this.clock.now().getTime() + previousValidForSeconds * 1_000);
    const { state } = await this.endpoints.execute(
      accountId,
      { kind: 'rotate', endpointId, secretId, previousExpiresAt },
      context,
    );
    return {
      secret: secretText(secret),
      previousExpiresAt: current(state, endpointId).previousSecret?.expiresAt ?? previousExpiresAt.toISOString(),
    };
  }
}
