import { Injectable } from '@nestjs/common';
import type { Environment } from '../../../kernel/environment.js';
import { type LoggedRequest, type PlacedRequest, RequestLog, type RequestShare } from '../../../ports/request-log.js';

export type { LoggedRequest } from '../../../ports/request-log.js';

export interface RequestFilter {
  readonly status?: number;
  readonly route?: string;
}

export interface RequestPage {
  /** Sorted with the oldest first. */
  readonly requests: readonly PlacedRequest[];
  /** The position after the last examined request. A later read continues at this position. */
  readonly next: string;
  /** Whether more requests may follow after `next`. */
  readonly hasMore: boolean;
}

interface Asked {
  readonly limit: number;
  readonly filter: RequestFilter;
}

const SHARES = ['servers', 'pages'] as const;
/** The number of requests that a filter examines at a time. */
const LOOKED_AT = 2_000;
const START = '0-0';

/** The request log of an account, for the controller and the operator: its shares as one list. */
@Injectable()
export class RecentRequests {
  constructor(private readonly log: RequestLog) {}

  /**
   * Requests after `after`, which is a `next` of an earlier page; null means the newest. With a filter, a read after a position examines a limited
   * number of requests, so a page may be empty although more follow. A position names a place in each share, or one place for both. Throws Unavailable.
   */
  async read(
    { accountId, environment }: { readonly accountId: string; readonly environment: Environment },
    { after, ...asked }: Asked & { readonly after: string | null },
  ): Promise<RequestPage> {
    const { limit } = asked;
    const [first = null, second = first] = after?.split('.') ?? [];
    const pages = await Promise.all(
      SHARES.map((callers, share) => {
        const place = share === 0 ? first : second;
        const of = { accountId, environment, callers };
        return place === null ? this.newest(of, asked) : this.following(of, place, asked);
      }),
    );
    const all = pages.flatMap(({ requests }) => requests).sort(inOrder);
    if (after === null)
      return { requests: all.slice(-limit), next: pages.map(({ next }) => next).join('.'), hasMore: false };
    // A share that has more was not examined beyond its end, so the other share waits there.
    const [end] = pages.flatMap(({ hasMore, next }) => (hasMore ? [{ place: next }] : [])).sort(inOrder);
    const known = all.filter((request) => end === undefined || inOrder(request, end) <= 0);
    const requests = known.slice(0, limit);
    const shown = new Set(requests);
    const ends = pages.map((page, share) => {
      const left = page.requests.findIndex((request) => !shown.has(request));
      return left < 0 ? page.next : (page.requests[left - 1]?.place ?? (share === 0 ? first : second));
    });
    return { requests, next: ends.join('.'), hasMore: end !== undefined || requests.length < all.length };
  }

  /** Reads on until there are enough requests, because a caller cannot continue backwards. */
  private async newest(share: RequestShare, { limit, filter }: Asked): Promise<RequestPage> {
    const count = atATime({ limit, filter });
    const matching: PlacedRequest[] = [];
    for (let before: string | null = null; ;) {
      const examined: readonly PlacedRequest[] = await this.log.read(share, { before }, count);
      matching.unshift(...examined.filter((request) => matches(request, filter)));
      if (examined.length < count || matching.length >= limit) break;
      before = examined[0]?.place ?? START;
    }
    const requests = matching.slice(-limit);
    return { requests, next: requests.at(-1)?.place ?? START, hasMore: false };
  }

  private async following(share: RequestShare, after: string, { limit, filter }: Asked): Promise<RequestPage> {
    const count = atATime({ limit, filter });
    const found = await this.log.read(share, { after }, count + 1);
    const examined = found.slice(0, count);
    const matching = examined.filter((request) => matches(request, filter));
    const requests = matching.slice(0, limit);
    const isCut = requests.length < matching.length;
    const next = (isCut ? requests : examined).at(-1)?.place ?? after;
    return { requests, next, hasMore: isCut || found.length > count };
  }
}

function atATime({ limit, filter }: Asked): number {
  return Object.keys(filter).length > 0 ? Math.max(limit, LOOKED_AT) : limit;
}

function matches(request: LoggedRequest, { status, route }: RequestFilter): boolean {
  return (status === undefined || request.status === status) && (route === undefined || request.route === route);
}

function inOrder({ place: one }: Pick<PlacedRequest, 'place'>, { place: other }: Pick<PlacedRequest, 'place'>): number {
  const [[ms = 0, number = 0], [otherMs = 0, otherNumber = 0]] = [placeOf(one), placeOf(other)];
  return ms - otherMs || number - otherNumber;
}

function placeOf(place: string): number[] {
  return place.split('-').map(Number);
}
