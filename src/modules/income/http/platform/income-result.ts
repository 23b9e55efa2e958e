// The income session and its report, as the platform and the server API return them (docs/contract/platform.md#income-sessions).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { UserAction } from '../../../../kernel/user-action.js';
import type { ViewedIncomeReport } from '../../application/view-income-report.js';
import type { IncomeLinks } from '../../read/income-links.js';
import type { IncomeStatus } from '../../read/income-status.js';

export const INCOME_STATUSES = ['CREATED', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'EXPIRED'] as const;

export class UserActionResult {
  @ApiProperty({ format: 'date-time', description: 'The end of the round' }) readonly until!: string;
  @ApiPropertyOptional({ format: 'uri', description: "The vendor's page, to be opened in a window of its own" })
  readonly url?: string;
  @ApiPropertyOptional({ description: "The vendor's SDK that the page must run; absent if there is a `url`" })
  readonly sdk?: string;
  @ApiPropertyOptional({ description: 'The token for the SDK' }) readonly token?: string;
}

export class IncomeStatusResult {
  @ApiProperty({ format: 'uuid' }) readonly income_session_id!: string;
  @ApiProperty({ enum: INCOME_STATUSES })
  readonly status!: IncomeStatus['status'];
  @ApiProperty({
    enum: ['PAYROLL', 'BANKING'],
    description: 'The current route. After the end: the route that decided, or the last one tried',
  })
  readonly route!: IncomeStatus['route'];
  @ApiPropertyOptional({ format: 'uuid' }) readonly screening_session_id?: string;
  @ApiPropertyOptional({ enum: ['NO_MATCH', 'VENDOR_ERROR'], description: 'Present for a FAILED session' })
  readonly reason_code?: 'NO_MATCH' | 'VENDOR_ERROR';
  @ApiPropertyOptional({ format: 'uri', description: 'Address where a server reads the report of a COMPLETED session' })
  readonly report_url?: string;
  @ApiPropertyOptional({
    type: UserActionResult,
    description: 'Present while the person must act at the vendor. Absent in lists',
  })
  readonly user_action?: UserActionResult;
  @ApiProperty({ format: 'date-time' }) readonly created_at!: string;
  @ApiProperty({ format: 'date-time' }) readonly updated_at!: string;
  @ApiPropertyOptional({ format: 'date-time' }) readonly completed_at?: string;
}

class EmployerResult {
  @ApiProperty() readonly name!: string;
  @ApiProperty({ type: String, nullable: true }) readonly title!: string | null;
  @ApiProperty({ type: String, nullable: true, format: 'date' }) readonly started_on!: string | null;
  @ApiProperty({ type: String, nullable: true, format: 'date' }) readonly ended_on!: string | null;
}

class IncomeAmountResult {
  @ApiProperty({ type: 'integer' }) readonly annual_gross_cents!: number;
  @ApiProperty({ description: 'Lowercase ISO 4217' }) readonly currency!: string;
  @ApiProperty({ enum: ['WEEKLY', 'BIWEEKLY', 'SEMIMONTHLY', 'MONTHLY'] }) readonly pay_frequency!:
    'WEEKLY' | 'BIWEEKLY' | 'SEMIMONTHLY' | 'MONTHLY';
}

class PaystubResult {
  @ApiProperty({ format: 'date' }) readonly pay_date!: string;
  @ApiProperty({ type: 'integer' }) readonly gross_cents!: number;
  @ApiProperty({ type: 'integer' }) readonly net_cents!: number;
}

export class IncomeReportResult {
  @ApiProperty({ format: 'uuid' }) readonly income_session_id!: string;
  @ApiProperty({ enum: ['PAYROLL', 'BANKING'] }) readonly route!: IncomeStatus['route'];
  @ApiProperty({ format: 'date-time' }) readonly generated_at!: string;
  @ApiProperty({ type: [EmployerResult] }) readonly employers!: readonly EmployerResult[];
  @ApiProperty({ type: IncomeAmountResult }) readonly income!: IncomeAmountResult;
  @ApiProperty({ type: [PaystubResult] }) readonly paystubs!: readonly PaystubResult[];
}

export function incomeStatusResult(
  id: string,
  status: IncomeStatus,
  links: IncomeLinks,
  userAction: UserAction | null = null,
): IncomeStatusResult {
  const { screeningSessionId, failureReason, updatedAt } = status;
  const completed = status.status === 'COMPLETED';
  const reportUrl = completed ? links.reportUrl(id) : null;
  return {
    income_session_id: id,
    status: status.status,
    route: status.route,
    ...(screeningSessionId === null ? {} : { screening_session_id: screeningSessionId }),
    ...(failureReason === null ? {} : { reason_code: failureReason }),
    ...(reportUrl === null ? {} : { report_url: reportUrl }),
    ...(userAction && { user_action: { until: userAction.until, ...userAction.open } }),
    created_at: status.createdAt,
    updated_at: updatedAt,
    ...(completed ? { completed_at: updatedAt } : {}),
  };
}

export function incomeReportResult(viewed: ViewedIncomeReport): IncomeReportResult {
  const { employers, income, paystubs } = viewed.report;
  return {
    income_session_id: viewed.incomeSessionId,
    route: viewed.route,
    generated_at: viewed.generatedAt,
    employers: employers.map(({ name, title, startedOn, endedOn }) => ({
      name,
      title,
      started_on: startedOn,
      ended_on: endedOn,
    })),
    income: {
      annual_gross_cents: income.annualGrossCents,
      currency: income.currency,
      pay_frequency: income.payFrequency,
    },
    paystubs: paystubs.map(({ payDate, grossCents, netCents }) => ({
      pay_date: payDate,
      gross_cents: grossCents,
      net_cents: netCents,
    })),
  };
}
