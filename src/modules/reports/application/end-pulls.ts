import { Injectable } from '@nestjs/common';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { ReportPulls, type PullsEnded } from '../../../published/reports.js';
import { endFor, report } from '../domain/report.js';

/**
 * The stream of the report decides about its pulls, about refunds, and about payments that leave the session. Each decision therefore sees the
 * earlier decisions.
 */
@Injectable()
export class EndPulls extends ReportPulls {
  constructor(private readonly aggregates: AggregateStore) {
    super();
  }

  override async end(
    sessionId: string,
    refund: Omit<PullsEnded, 'released'> & { readonly evenIfReleased: boolean },
    context: ActionContext,
  ): Promise<PullsEnded> {
    const { state } = await this.aggregates.execute(report, sessionId, { kind: 'end-pulls', ...refund }, context);
    const ended = endFor(state, refund.transactionId);
    if (ended === undefined) throw new Error(`Pulls of the report of session ${sessionId} have not ended`);
    return ended;
  }

  override async carryOver(sessionId: string, transactionId: string, context: ActionContext): Promise<boolean> {
    const command = { kind: 'carry-over', transactionId } as const;
    return (await this.aggregates.execute(report, sessionId, command, context)).state.carriedOver.includes(
      transactionId,
    );
  }
}
