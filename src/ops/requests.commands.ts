// ops requests tail
import { setTimeout as pause } from 'node:timers/promises';
import { Command, Option, SubCommand } from 'nest-commander';
import { ENVIRONMENTS, type Environment } from '../kernel/environment.js';
import { accountProjection, accountsList } from '../modules/accounts/read/accounts.js';
import { RecentRequests } from '../modules/accounts/read/recent-requests.js';
import { CommandGroup } from './command-group.js';
import { limitIn } from './listing.js';
import { idIn, oneOf, wholeNumber, WrongInput } from './operator.js';
import { ShowingCommand } from './operator-command.js';
import { OperatorLists } from './operator-lists.js';
import { endTable, printNone, printRow } from './output.js';
import { RequestTail, type TailedRequest } from './request-tail.js';

const SHOWN = 20;
const LOOK_AGAIN_MS = 1_000;

interface TailValues {
  readonly account?: string;
  readonly environment?: Environment;
  readonly status?: number;
  readonly route?: string;
  readonly limit?: number;
  readonly follow?: true;
}

@SubCommand({
  name: 'tail',
  description: 'Show the newest API requests of one account or of all, the newest last; they contain no personal data',
})
export class TailRequestsCommand extends ShowingCommand {
  constructor(
    private readonly lists: OperatorLists,
    private readonly requests: RecentRequests,
  ) {
    super();
  }

  @Option({ flags: '--account <account>', description: 'only of this account' })
  readAccount(text: string): string {
    return idIn(text, 'account');
  }

  @Option({ flags: '--environment <environment>', description: 'only test or only live' })
  readEnvironment(text: string): Environment {
    return oneOf(text, ENVIRONMENTS, '--environment');
  }

  @Option({ flags: '--status <status>', description: 'only with this HTTP status' })
  readStatus(text: string): number {
    const status = wholeNumber(text, '--status');
    if (status < 100 || status > 599) throw new WrongInput('--status must be an HTTP status from 100 to 599.');
    return status;
  }

  @Option({ flags: '--route <route>', description: 'only of this route, such as /screening/:id/status' })
  readRoute(text: string): string {
    return text;
  }

  @Option({ flags: '--limit <number>', description: `number of requests, ${SHOWN} if not given, at most 1000` })
  readLimit(text: string): number {
    return limitIn(text);
  }

  @Option({ flags: '--follow', description: 'go on with new requests until the command is stopped' })
  readFollow(): true {
    return true;
  }

  override async run(_: string[], values: TailValues = {}): Promise<void> {
    const { account, environment, status, route, limit = SHOWN, follow } = values;
    const accounts = account === undefined ? await this.lists.idsIn(accountProjection, accountsList()) : [account];
    const owners = accounts.flatMap((accountId) =>
      (environment === undefined ? ENVIRONMENTS : [environment]).map((one) => ({ accountId, environment: one })),
    );
    const filter = { ...(status !== undefined && { status }), ...(route !== undefined && { route }) };
    const tail = new RequestTail(this.requests, owners, filter);
    const newest = await tail.newest(limit);
    if (newest.length === 0) printNone('requests');
    show(newest);
    while (follow) {
      await pause(LOOK_AGAIN_MS);
      show(await tail.following());
    }
  }
}

function show(requests: readonly TailedRequest[]): void {
  for (const { requestId, keyId, idempotency, ...request } of requests) {
    const { at, accountId, environment, method, route, status, code, durationMs } = request;
    const row = { at, method, route, status, code, durationMs, accountId, environment };
    printRow({ ...row, requestId, keyId, idempotency }, row);
  }
  endTable();
}

@Command({ name: 'requests', description: 'API requests of accounts', subCommands: [TailRequestsCommand] })
export class RequestsCommand extends CommandGroup {}
