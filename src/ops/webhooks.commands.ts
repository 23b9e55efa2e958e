// ops webhooks backlog | check | replay: for operators who manage deliveries.
import { CommandBus } from '@nestjs/cqrs';
import { Command, Option, SubCommand } from 'nest-commander';
import { CheckDeliveries } from '../modules/webhooks/application/check-deliveries.js';
import { ReplayEvents } from '../modules/webhooks/application/replay-events.js';
import { DeliveryQueue } from '../ports/delivery-queue.js';
import { CommandGroup } from './command-group.js';
import { idIn, operatorContext, timeIn, WrongInput } from './operator.js';
import { print } from './output.js';
import { OperatorCommand, ShowingCommand } from './operator-command.js';

@SubCommand({ name: 'backlog', description: 'Show how many deliveries wait, and the longest delay' })
export class WebhookBacklogCommand extends ShowingCommand {
  constructor(private readonly queue: DeliveryQueue) {
    super();
  }

  override async run(): Promise<void> {
    print(await this.queue.backlog());
  }
}

@SubCommand({
  name: 'check',
  description: 'Compare the events published since the last check with their deliveries, and make missing deliveries',
})
export class CheckWebhooksCommand extends OperatorCommand {
  constructor(private readonly commands: CommandBus) {
    super();
  }

  override async run(): Promise<void> {
    print(await this.commands.execute(new CheckDeliveries()));
  }
}

interface ReplayOptions {
  readonly from?: Date;
  readonly to?: Date;
  readonly account?: string;
}

@SubCommand({
  name: 'replay',
  description: 'Send the published events of a period once more, under the same event ids',
})
export class ReplayWebhooksCommand extends OperatorCommand {
  constructor(private readonly commands: CommandBus) {
    super();
  }

  @Option({ flags: '--from <time>', description: 'inclusive (ISO 8601 with a zone)', required: true })
  readFrom(text: string): Date {
    return timeIn(text, '--from');
  }

  @Option({ flags: '--to <time>', description: 'exclusive (ISO 8601 with a zone)', required: true })
  readTo(text: string): Date {
    return timeIn(text, '--to');
  }

  @Option({ flags: '--account <account>', description: 'only of this account' })
  readAccount(text: string): string {
    return idIn(text, 'account');
  }

  override async run(_: string[], { from, to, account }: ReplayOptions): Promise<void> {
    if (!from || !to || from >= to) throw new WrongInput('--from must be before --to.');
    print(await this.commands.execute(new ReplayEvents({ from, to, accountId: account ?? null }, operatorContext())));
  }
}

@Command({
  name: 'webhooks',
  description: 'Webhook deliveries',
  subCommands: [WebhookBacklogCommand, CheckWebhooksCommand, ReplayWebhooksCommand],
})
export class WebhooksCommand extends CommandGroup {}
