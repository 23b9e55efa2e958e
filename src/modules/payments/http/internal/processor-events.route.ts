import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { InternalRoute, type InternalRequest } from '../../../../platform/http/internal-listener.js';
import { ReceiveProcessorWebhookEvent } from '../../application/receive-processor-webhook-event.js';

/** The address to which the processor sends its webhook events (docs/contract/platform.md#processor-events). */
@Injectable()
export class ProcessorEventsRoute extends InternalRoute {
  override readonly path = '/internal/processor/events';

  constructor(private readonly commands: CommandBus) {
    super();
  }

  override receive({ body, headers, requestId }: InternalRequest): Promise<void> {
    return this.commands.execute(new ReceiveProcessorWebhookEvent(body, headers, requestId));
  }
}
