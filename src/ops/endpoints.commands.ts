// ops endpoints list
import { Command, Option, SubCommand } from 'nest-commander';
import type { Endpoint } from '../modules/webhooks/domain/endpoint.js';
import { endpointProjection } from '../modules/webhooks/read/endpoint-projection.js';
import { ENDPOINT_STATUSES, type EndpointPage, EndpointReader } from '../modules/webhooks/read/endpoints.js';
import { CommandGroup } from './command-group.js';
import { idPart, PagedCommand, type PageValues, tellNext } from './listing.js';
import { oneOf } from './operator.js';
import { OperatorLists } from './operator-lists.js';
import { printNone, printRow } from './output.js';

interface EndpointsValues extends PageValues {
  readonly status?: Endpoint['status'];
}

@SubCommand({ name: 'list', description: 'List the webhook endpoints of one account or of all' })
export class ListEndpointsCommand extends PagedCommand {
  constructor(
    private readonly lists: OperatorLists,
    private readonly endpoints: EndpointReader,
  ) {
    super();
  }

  @Option({ flags: '--status <status>', description: ENDPOINT_STATUSES.join(', ') })
  readStatus(text: string): Endpoint['status'] {
    return oneOf(text, ENDPOINT_STATUSES, '--status');
  }

  override async run(_: string[], values: EndpointsValues = {}): Promise<void> {
    const { items, next } = await this.page(values);
    for (const { accountId, endpoint } of items) {
      const { endpointId, url, enabledEvents, status, consecutiveFailures, disabledReason } = endpoint;
      const { createdAt, updatedAt, statusAt } = endpoint;
      const numbers = { consecutiveFailures, disabledReason, createdAt, updatedAt, statusAt };
      printRow(
        { endpointId, accountId, status, url, enabledEvents, ...numbers },
        { endpointId, accountId, status, url, statusAt },
      );
    }
    if (items.length === 0) printNone('endpoints');
    tellNext(next === null ? null : { sort: '', id: next });
  }

  private async page({ account, status, ...asked }: EndpointsValues): Promise<EndpointPage> {
    const statuses = status === undefined ? ENDPOINT_STATUSES : [status];
    if (account !== undefined) {
      const endpoint = await this.endpoints.current(account);
      const isListed = endpoint !== null && statuses.includes(endpoint.status);
      return { items: isListed ? [{ accountId: account, endpoint }] : [], next: null };
    }
    const { before, limit } = idPart(asked);
    return this.lists.complete(endpointProjection, () => this.endpoints.page(statuses, before, limit));
  }
}

@Command({ name: 'endpoints', description: 'Webhook endpoints', subCommands: [ListEndpointsCommand] })
export class EndpointsCommand extends CommandGroup {}
