import { Injectable, Logger } from '@nestjs/common';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { ErrorCode } from '../../../kernel/error-codes.js';
import { DEFAULT_PURPOSE } from '../../../kernel/permissible-purpose.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { Screenings } from '../../../published/screenings.js';
import { reportLooks, type RefusedRead } from '../domain/report-view.js';

/** A read of a session's report. `sessionId`: undefined if the caller named a renter without a session. */
export interface Read {
  readonly sessionId: string | undefined;
  readonly format: RefusedRead['format'];
  readonly context: CallerContext;
}

/** The refused reads that are recorded for one session and one account, so that a caller cannot make the log grow. */
const RECORDED_PER_MINUTE = 10;

const logger = new Logger('ReadRefusals');

/** Records refused reads of reports in the stream of the session's views. */
@Injectable()
export class ReadRefusals {
  constructor(
    private readonly looks: GroupedStream,
    private readonly screenings: Screenings,
    private readonly limiter: RateLimiter,
  ) {}

  /** Runs `work`, and records its refusal. A refusal that cannot be recorded stays the caller's answer. */
  async noting<Result>(read: Read, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DomainError) || !isRefusal(error.code)) throw error;
      const recorded = this.record(read, error.code).catch((fault: unknown) =>
        logger.warn(`A refused read was not recorded: ${fault instanceof Error ? fault.name : typeof fault}`),
      );
      // An unknown session and a session of others must take the same time.
      if (error.code !== 'screening.not_found') await recorded;
      throw error;
    }
  }

  private async record({ sessionId, format, context }: Read, code: ErrorCode): Promise<void> {
    const session = sessionId === undefined ? null : await this.screenings.find(sessionId);
    if (session === null) return;
    const viewerAccountId = context.accountId;
    const key = `refused-reads:${session.sessionId}:${viewerAccountId}`;
    if ((await this.limiter.take([{ key, limit: RECORDED_PER_MINUTE, windowSeconds: 60 }])) !== null) return;
    const refused = {
      sessionId: session.sessionId,
      viewerAccountId,
      purpose: session.purpose ?? context.named?.purpose ?? DEFAULT_PURPOSE,
      format,
      code,
    };
    const { accountId, environment } = session;
    const owned = { ...context, accountId, environment };
    await this.looks.execute(reportLooks, session.sessionId, { kind: 'record-refusal', ...refused }, owned);
  }
}

/** Whether the read itself was refused. A limit, an outage and a malformed request say nothing about the report. */
function isRefusal(code: ErrorCode): boolean {
  return !/^(service|request)\./.test(code) && code !== 'vendor.unreachable';
}
