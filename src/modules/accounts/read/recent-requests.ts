import { Injectable } from '@nestjs/common';
import { RequestLog, type RequestFilter, type RequestPage } from '../../../ports/request-log.js';

export type { LoggedRequest, RequestFilter, RequestPage } from '../../../ports/request-log.js';

/** The request log, for the controller and the operator. */
@Injectable()
export class RecentRequests {
  constructor(private readonly log: RequestLog) {}

  read(
    owner: Parameters<RequestLog['read']>[0],
    page: { readonly after: string | null; readonly limit: number; readonly filter: RequestFilter },
  ): Promise<RequestPage> {
    return this.log.read(owner, page);
  }
}
