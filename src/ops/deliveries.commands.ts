// ops deliveries failing: names the endpoints that do not accept their deliveries
import { Command, Option, SubCommand } from 'nest-commander';
import { EndpointReader } from '../modules/webhooks/read/endpoints.js';
import { CommandGroup } from './command-group.js';
import { idIn, print } from './operator.js';
import { ShowingCommand } from './operator-command.js';

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
    for await (const endpoint of this.endpoints.troubled(account ?? null)) print(endpoint);
  }
}

@Command({ name: 'deliveries', description: 'Webhook deliveries that fail', subCommands: [FailingDeliveriesCommand] })
export class DeliveriesCommand extends CommandGroup {}
