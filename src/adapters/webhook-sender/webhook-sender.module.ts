import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../config.js';
import { WebhookAddressRules, WebhookSender } from '../../ports/webhook-sender.js';
import { AddressRules } from './address-rules.js';
import { HttpsWebhookSender } from './https.js';

@Global()
@Module({
  providers: [
    {
      provide: HttpsWebhookSender,
      useFactory: ({ limits }: Config) =>
        new HttpsWebhookSender({ timeoutMs: limits.webhookTimeout * 1_000, allow: limits.webhookEgressAllow }),
      inject: [Config],
    },
    { provide: WebhookSender, useExisting: HttpsWebhookSender },
    {
      provide: WebhookAddressRules,
      useFactory: ({ limits }: Config) => new AddressRules({ allow: limits.webhookEgressAllow }),
      inject: [Config],
    },
  ],
  exports: [WebhookSender, WebhookAddressRules],
})
export class WebhookSenderModule implements OnApplicationShutdown {
  constructor(private readonly sender: HttpsWebhookSender) {}

  onApplicationShutdown(): Promise<void> {
    return this.sender.close();
  }
}
