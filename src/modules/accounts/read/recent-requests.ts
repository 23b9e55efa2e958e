import { Injectable } from '@nestjs/common';
import type { Environment } from '../../../kernel/environment.js';
import { type PlacedRequest, type RequestFilter, RequestLog, type RequestPage } from '../../../ports/request-log.js';

export type { LoggedRequest, RequestFilter, RequestPage } from '../../../ports/request-log.js';

const SHARES = ['servers', 'pages'] as const;

/** The request log of an account, for the controller and the operator: its shares as one list. */
@Injectable()
export class RecentRequests {
  constructor(private readonly log: RequestLog) {}

  /** As `RequestLog.read`. A position names a place in each share. A position of an earlier release names one place for both. */
  async read(
    owner: { readonly accountId: string; readonly environment: Environment },
    { after, limit, filter }: { readonly after: string | null; readonly limit: number; readonly filter: RequestFilter },
  ): Promise<RequestPage> {
    const { accountId, environment } = owner;
    const [first = null, second = first] = after?.split('.') ?? [];
    const pages = await Promise.all(
      SHARES.map((callers, share) =>
        this.log.read({ accountId, environment, callers }, { after: share === 0 ? first : second, limit, filter }),
      ),
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
}

function inOrder({ place: one }: Pick<PlacedRequest, 'place'>, { place: other }: Pick<PlacedRequest, 'place'>): number {
  const [[ms = 0, number = 0], [otherMs = 0, otherNumber = 0]] = [placeOf(one), placeOf(other)];
  return ms - otherMs || number - otherNumber;
}

function placeOf(place: string): number[] {
  return place.split('-').map(Number);
}
