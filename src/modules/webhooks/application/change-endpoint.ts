import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { newId } from '../../../kernel/ids.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { WebhookAddressRules } from '../../../ports/webhook-sender.js';
import { current, webhookEndpoint, type Endpoint, type Resume, type SignatureVersion } from '../domain/endpoint.js';
import { feed, feedIdOf } from '../domain/feed.js';
import { EndpointChanges } from './endpoint-changes.js';
import { EndpointSecrets } from './endpoint-secrets.js';
import { admitUrl } from './register-endpoint.js';

/** An absent field is not changed. A null list means all event types, and a null address ends the notifications. */
export interface EndpointChange {
  readonly url?: string;
  readonly enabledEvents?: readonly string[] | null;
  readonly notifyEmail?: string | null;
  readonly signatures?: readonly SignatureVersion[];
  readonly maxPerSecond?: number | null;
  /** The sequence in the feed of the caller's environment from which events are delivered again. */
  readonly resumeFrom?: number;
}

/** Changes the given fields, and makes a disabled endpoint active again (docs/contract/webhooks.md#endpoint-health). */
@UseCase()
export class ChangeEndpoint extends Command<void> {
  constructor(
    readonly endpointId: string,
    readonly change: EndpointChange,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(ChangeEndpoint)
export class ChangeEndpointHandler implements ICommandHandler<ChangeEndpoint> {
  constructor(
    private readonly streams: GroupedStream,
    private readonly endpoints: EndpointChanges,
    private readonly secrets: EndpointSecrets,
    private readonly addresses: WebhookAddressRules,
  ) {}

  async execute({ endpointId, change, context }: ChangeEndpoint): Promise<void> {
    const { accountId } = context;
    const { state } = await this.streams.load(webhookEndpoint, accountId);
    const stored = current(state, endpointId);
    await this.endpoints.admit(accountId);
    const { url, enabledEvents, notifyEmail, signatures, maxPerSecond, resumeFrom } = change;
    // An endpoint may keep its URL, even if newer rules would refuse the URL.
    if (url !== undefined && url !== stored.url) await admitUrl(this.addresses, url);
    if (notifyEmail !== undefined) await this.secrets.keepContact(accountId, endpointId, notifyEmail);
    const command = {
      kind: 'change',
      endpointId,
      ...(url !== undefined && { url }),
      ...(enabledEvents !== undefined && { enabledEvents }),
      ...(notifyEmail !== undefined && { notifies: notifyEmail !== null }),
      ...(signatures && { signatures }),
      ...(maxPerSecond !== undefined && { maxPerSecond }),
      ...(await this.secrets.firstKey(accountId, state, signatures)),
      ...(resumeFrom !== undefined && (await this.resume(resumeFrom, stored, context))),
    } as const;
    await this.endpoints.execute(accountId, command, context);
  }

  /**
   * A resume delivers the events up to the end of the feed. If it replaces a working resume, it keeps the end of the working one, and holds back the
   * same events. A repeated request changes nothing.
   */
  private async resume(
    from: number,
    { resumes }: Endpoint,
    { accountId, environment }: CallerContext,
  ): Promise<{ readonly resume?: Resume }> {
    const working = resumes.find((one) => one.environment === environment);
    const { revision } = await this.streams.load(feed, feedIdOf(accountId, environment));
    const head = working?.head ?? (revision ?? -1) + 1;
    const first = Math.max(1, Math.min(from, head + 1));
    if (working?.from === first) return {};
    return { resume: { resumeId: newId(), environment, from: first, head } };
  }
}
