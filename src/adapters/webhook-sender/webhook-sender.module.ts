import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Limits } from '../../config/limits.js';
import { WebhookAddressRules, WebhookSender } from '../../ports/webhook-sender.js';
import { AddressRules } from './address-rules.js';
import { HttpsWebhookSender } from './https.js';

@Global()
@Module({
  providers: [
    {
      provide: HttpsWebhookSender,
      useFactory: (limits: Limits) =>
        new HttpsWebhookSender({ timeoutMs: limits.webhookTimeout * 1_000, allow: limits.webhookEgressAllow }),
      inject: [Limits],
    },
    { provide: WebhookSender, useExisting: HttpsWebhookSender },
    {
      provide: WebhookAddressRules,
      useFactory: (limits: Limits) =>
        new AddressRules({ allow: limits.webhookEgressAllow, ports: limits.webhookPorts }),
      inject: [Limits],
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
