import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { derivedId } from '../../../kernel/ids.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { current, webhookEndpoint } from '../domain/endpoint.js';
import { secretText } from '../domain/signature.js';
import { EndpointChanges } from './endpoint-changes.js';
import { EndpointSecrets } from './endpoint-secrets.js';

export interface RotatedSecret {
  /** The secret is shown only this once. */
  readonly secret: string;
  /** The previous secret also signs until this time (ISO 8601 UTC). */
  readonly previousExpiresAt: string;
}

/**
 * Gives the endpoint a new secret, which signs at once. An endpoint with `v1a` gets a new key pair with it. A second call with the same `secretId` is the same rotation.
 */
@UseCase()
export class RotateSecret extends Command<RotatedSecret> {
  constructor(
    readonly request: {
      readonly endpointId: string;
      readonly secretId: string;
      readonly previousValidForSeconds: number;
    },
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

  async execute({
    request: { endpointId, secretId, previousValidForSeconds },
    context,
  }: RotateSecret): Promise<RotatedSecret> {
    const { accountId } = context;
    const { signatures } = current((await this.streams.load(webhookEndpoint, accountId)).state, endpointId);
    await this.endpoints.admit(accountId);
    const secret = await this.secrets.create(accountId, secretId);
    const key = signatures.includes('v1a')
      ? { key: await this.secrets.createKey(accountId, derivedId('webhook-key', secretId)) }
      : {};
    const previousExpiresAt = new Date(this.clock.now().getTime() + previousValidForSeconds * 1_000);
    const { state } = await this.endpoints.execute(
      accountId,
      { kind: 'rotate', endpointId, secretId, ...key, previousExpiresAt },
      context,
    );
    return {
      secret: secretText(secret),
      previousExpiresAt: current(state, endpointId).previousSecret?.expiresAt ?? previousExpiresAt.toISOString(),
    };
  }
}
