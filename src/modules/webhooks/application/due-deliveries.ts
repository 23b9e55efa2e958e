import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { DeliveryAttempts, type DueDelivery } from '../../../ports/delivery-queue.js';
import { AttemptDelivery } from './attempt-delivery.js';

/** Attempts a due delivery for a worker of the queue. */
@Injectable()
export class DueDeliveries extends DeliveryAttempts {
  constructor(private readonly commands: CommandBus) {
    super();
  }

  override async attempt({ deliveryId, kind }: DueDelivery): ReturnType<DeliveryAttempts['attempt']> {
    const answer = await this.commands.execute(new AttemptDelivery(deliveryId, kind));
    if (answer === null || 'spacingMs' in answer) return answer;
    const { errorCode } = answer;
    return { timedOut: errorCode === 'TIMEOUT', outcome: errorCode ?? 'SUCCESS' };
  }
}
