import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { newId } from '../../../kernel/ids.js';
import { fieldError } from '../../../kernel/domain-error.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { WebhookAddressRules } from '../../../ports/webhook-sender.js';
import { type SignatureVersion, webhookEndpoint } from '../domain/endpoint.js';
import { secretText } from '../domain/signature.js';
import { EndpointChanges } from './endpoint-changes.js';
import { EndpointSecrets } from './endpoint-secrets.js';

/**
 * Registers the single endpoint of an account. Returns the endpoint's secret, which is shown only once. The new endpoint replaces a disabled
 * endpoint, whose history stays.
 */
@UseCase()
export class RegisterEndpoint extends Command<{ readonly secret: string }> {
  constructor(
    readonly request: {
      readonly endpointId: string;
      readonly url: string;
      readonly enabledEvents: readonly string[] | null;
      readonly notifyEmail: string | null;
      readonly signatures: readonly SignatureVersion[];
      readonly maxPerSecond: number | null;
      readonly disabled: boolean;
    },
    readonly context: ActionContext & { readonly accountId: string },
  ) {
    super();
  }
}

@Handles(RegisterEndpoint)
export class RegisterEndpointHandler implements ICommandHandler<RegisterEndpoint> {
  constructor(
    private readonly streams: GroupedStream,
    private readonly endpoints: EndpointChanges,
    private readonly secrets: EndpointSecrets,
    private readonly addresses: WebhookAddressRules,
  ) {}

  async execute({
    request: { endpointId, url, enabledEvents, notifyEmail, signatures, maxPerSecond, disabled },
    context,
  }: RegisterEndpoint): Promise<{ readonly secret: string }> {
    const { accountId } = context;
    await this.endpoints.admit(accountId);
    await admitUrl(this.addresses, url);
    // The state is checked before a secret is made.
    const { state } = await this.streams.load(webhookEndpoint, accountId);
    if (state.current?.endpointId === endpointId) {
      return { secret: secretText(await this.secrets.secret(accountId, state.current.secret.secretId)) };
    }
    webhookEndpoint.decide({ kind: 'register', endpointId, url, enabledEvents, notifies: false, secretId: '' }, state);
    const secretId = newId();
    const secret = await this.secrets.create(accountId, secretId);
    if (notifyEmail !== null) await this.secrets.keepContact(accountId, endpointId, notifyEmail);
    const command = {
      kind: 'register',
      endpointId,
      url,
      enabledEvents,
      notifies: notifyEmail !== null,
      secretId,
      signatures,
      ...(maxPerSecond !== null && { maxPerSecond }),
      ...(disabled && { disabled }),
      ...(await this.secrets.firstKey(accountId, state, signatures)),
    } as const;
    await this.endpoints.execute(accountId, command, context);
    return { secret: secretText(secret) };
  }
}

export async function admitUrl(addresses: WebhookAddressRules, url: string): Promise<void> {
  const fault = await addresses.faultOf(url);
  if (fault !== null) throw fieldError('webhook.url_invalid', 'webhook.url', fault);
}
