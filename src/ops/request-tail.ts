// The newest API requests of several accounts, and the requests that follow them.
import type { Environment } from '../kernel/environment.js';
import type { LoggedRequest, RecentRequests, RequestFilter } from '../modules/accounts/read/recent-requests.js';

export interface TailedRequest extends LoggedRequest {
  readonly accountId: string;
  readonly environment: Environment;
}

type Owner = Pick<TailedRequest, 'accountId' | 'environment'>;

/** The largest page of the log. */
const PAGE = 1_000;

/** Reads the logs of all owners as one, the oldest request first. */
export class RequestTail {
  /** The position in the log of each owner. */
  private readonly places = new Map<Owner, string>();

  constructor(
    private readonly log: Pick<RecentRequests, 'read'>,
    private readonly owners: readonly Owner[],
    private readonly filter: RequestFilter,
  ) {}

  /** The newest requests, at most `limit` of all owners together. */
  async newest(limit: number): Promise<readonly TailedRequest[]> {
    const found: TailedRequest[] = [];
    for (const owner of this.owners) {
      const { requests, next } = await this.log.read(owner, { after: null, limit, filter: this.filter });
      this.places.set(owner, next);
      found.push(...requests.map((request) => ({ ...owner, ...request })));
    }
    return inOrder(found).slice(-limit);
  }

  /** The requests since the last read. */
  async following(): Promise<readonly TailedRequest[]> {
    const found: TailedRequest[] = [];
    for (const owner of this.owners) {
      for (let isEnd = false; !isEnd;) {
        const after = this.places.get(owner) ?? null;
        const { requests, next, hasMore } = await this.log.read(owner, { after, limit: PAGE, filter: this.filter });
        this.places.set(owner, next);
        found.push(...requests.map((request) => ({ ...owner, ...request })));
        isEnd = !hasMore;
      }
    }
    return inOrder(found);
  }
}

function inOrder(requests: TailedRequest[]): TailedRequest[] {
  return requests.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
}
