// What the views look like on the wire, for the generated API description.
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { IncomeReportView, IncomeStatusView } from '../../read/income-view.js';

export class IncomeStatusResult implements IncomeStatusView {
  @ApiProperty({ format: 'uuid' }) readonly income_session_id!: string;
  @ApiProperty({ enum: ['CREATED', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'EXPIRED'] })
  readonly status!: IncomeStatusView['status'];
  @ApiProperty({
    enum: ['PAYROLL', 'BANKING'],
    description: 'The route being tried; afterwards the one that decided or was tried last',
  })
  readonly route!: IncomeStatusView['route'];
  @ApiPropertyOptional({ format: 'uuid' }) readonly screening_session_id?: string;
  @ApiPropertyOptional({ enum: ['NO_MATCH', 'VENDOR_ERROR'], description: 'Of a FAILED session' })
  readonly reason_code?: 'NO_MATCH' | 'VENDOR_ERROR';
  @ApiPropertyOptional({ format: 'uri', description: 'Of a COMPLETED session: where a server reads the report' })
  readonly report_url?: string;
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

export class IncomeReportResult implements IncomeReportView {
  @ApiProperty({ format: 'uuid' }) readonly income_session_id!: string;
  @ApiProperty({ enum: ['PAYROLL', 'BANKING'] }) readonly route!: IncomeReportView['route'];
  @ApiProperty({ format: 'date-time' }) readonly generated_at!: string;
  @ApiProperty({ type: [EmployerResult] }) readonly employers!: readonly EmployerResult[];
  @ApiProperty({ type: IncomeAmountResult }) readonly income!: IncomeAmountResult;
  @ApiProperty({ type: [PaystubResult] }) readonly paystubs!: readonly PaystubResult[];
}
