// The list of income sessions for servers (docs/contract/server.md#lists).
import { ApiProperty } from '@nestjs/swagger';
import { ExternalId, ListQuery, ListResult, OneOf } from '../../../../surfaces/server/list-query.js';
import { IncomeStatusResult, INCOME_STATUSES } from '../platform/income-result.js';

export class IncomeListQuery extends ListQuery {
  @OneOf(INCOME_STATUSES)
  readonly status?: (typeof INCOME_STATUSES)[number];

  @ExternalId()
  readonly external_id?: string;
}

export class IncomeListResult extends ListResult {
  @ApiProperty({ type: [IncomeStatusResult], description: 'Newest first' })
  readonly data!: IncomeStatusResult[];
}
