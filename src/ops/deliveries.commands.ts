// ops deliveries list | failing: lists deliveries, and names the endpoints that do not accept their deliveries
import { Command, Option, SubCommand } from 'nest-commander';
import type { DeliveryStatus } from '../modules/webhooks/domain/delivery.js';
import { type DeliveryPage, DeliveryReader } from '../modules/webhooks/read/deliveries.js';
import { DELIVERY_STATUSES, deliveryLog } from '../modules/webhooks/read/delivery-log.js';
import { EndpointReader } from '../modules/webhooks/read/endpoints.js';
import { DELIVERED_TYPES } from '../published/events.js';
import { CommandGroup } from './command-group.js';
import { idPart, PagedCommand, type PageValues, tellNext } from './listing.js';
import { idIn, oneOf, WrongInput } from './operator.js';
import { printNone, printRow } from './output.js';
import { ShowingCommand } from './operator-command.js';
import { OperatorLists } from './operator-lists.js';

interface FailingOptions {
  readonly account?: string;
}

@SubCommand({
  name: 'failing',
  description: 'List endpoints that are failing or disabled, or have retried or exhausted deliveries, one on each line',
})
export class FailingDeliveriesCommand extends ShowingCommand {
  constructor(private readonly endpoints: EndpointReader) {
    super();
  }

  @Option({ flags: '--account <account>', description: 'only of this account' })
  readAccount(text: string): string {
    return idIn(text, 'account');
  }

  override async run(_: string[], { account }: FailingOptions): Promise<void> {
    let found = 0;
    for await (const endpoint of this.endpoints.troubled(account ?? null)) {
      printRow(endpoint, { ...endpoint });
      found += 1;
    }
    if (found === 0) printNone('failing endpoints');
  }
}

interface DeliveriesValues extends PageValues {
  readonly status?: DeliveryStatus;
  readonly eventType?: string;
}

@SubCommand({ name: 'list', description: 'List the webhook deliveries of one account or of all, the newest first' })
export class ListDeliveriesCommand extends PagedCommand {
  constructor(
    private readonly lists: OperatorLists,
    private readonly endpoints: EndpointReader,
    private readonly deliveries: DeliveryReader,
  ) {
    super();
  }

  @Option({ flags: '--status <status>', description: DELIVERY_STATUSES.join(', ') })
  readStatus(text: string): DeliveryStatus {
    return oneOf(text, DELIVERY_STATUSES, '--status');
  }

  @Option({ flags: '--event-type <type>', description: 'such as screening.completed, with --account' })
  readEventType(text: string): string {
    return oneOf(text, [...DELIVERED_TYPES, 'ping'], '--event-type');
  }

  override async run(_: string[], values: DeliveriesValues = {}): Promise<void> {
    const { items, next } = await this.page(values);
    for (const { id: deliveryId, doc } of items) {
      const { accountId, environment, succeededAt, failedAt, delivery } = doc;
      const { endpointId, eventId, eventType, status, attempts, occurredAt, nextAttemptAt } = delivery;
      const told = { deliveryId, accountId, environment, eventType, status, attempts, occurredAt, nextAttemptAt };
      printRow({ ...told, endpointId, eventId, succeededAt, failedAt }, told);
    }
    if (items.length === 0) printNone('deliveries');
    tellNext(next === null ? null : { sort: '', id: next });
  }

  private async page({ account, status, eventType, ...asked }: DeliveriesValues): Promise<DeliveryPage> {
    const { before, limit } = idPart(asked);
    if (account === undefined) {
      if (eventType !== undefined) throw new WrongInput('Give --account with --event-type.');
      return this.lists.complete(deliveryLog, () => this.deliveries.pageOfAll(status, before, limit));
    }
    const endpoint = await this.endpoints.current(account);
    if (endpoint === null) throw new WrongInput(`The account ${account} has no webhook endpoint.`);
    const filter = { ...(status && { status }), ...(eventType !== undefined && { eventType }) };
    return this.lists.complete(deliveryLog, () => this.deliveries.page(endpoint.endpointId, filter, before, limit));
  }
}

@Command({
  name: 'deliveries',
  description: 'Webhook deliveries',
  subCommands: [ListDeliveriesCommand, FailingDeliveriesCommand],
})
export class DeliveriesCommand extends CommandGroup {}
