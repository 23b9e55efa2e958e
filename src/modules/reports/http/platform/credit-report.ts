// The credit report of documents. Its classes have the fields of the bureau's report, and the compiler compares them.
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { OpenedReport } from '../../application/report-viewer.js';

type Score = NonNullable<OpenedReport['score']>;
type Report = OpenedReport['report'];
type Consumer = Report['consumer'];
type Line<List> = List extends readonly (infer One)[] ? One : never;

const day = { format: 'date' } as const;
const cents = { type: 'integer', description: 'Cents' } as const;
const centsOrNull = { ...cents, nullable: true } as const;
/** The words of today. The bureau may add others. */
const words = (...known: readonly string[]): object => ({ type: String, 'x-extensible-enum': known });

export class ScoreResult implements Score {
  @ApiProperty({ type: 'integer', example: 712 }) readonly value!: number;
  @ApiProperty({ description: 'The model that made the score' }) readonly model!: string;
  @ApiProperty({ type: 'integer', example: 300 }) readonly min!: number;
  @ApiProperty({ type: 'integer', example: 850 }) readonly max!: number;
  @ApiProperty({ type: [String], description: 'The factors with the most weight, the most important first' })
  readonly factors!: readonly string[];
  @ApiProperty(day) readonly date!: string;
}

class ReportConsumer implements Consumer {
  @ApiProperty() readonly name!: string;
  @ApiProperty({ type: [String] }) readonly addresses!: readonly string[];
  @ApiProperty({ type: 'integer', nullable: true }) readonly birthYear!: number | null;
  @ApiPropertyOptional({ pattern: '^\\d{4}$' }) readonly ssnLastFour?: string;
}

class ReportAlert implements Line<Report['alerts']> {
  @ApiProperty(words('FRAUD_ALERT', 'ACTIVE_DUTY', 'ADDRESS_MISMATCH')) readonly type!: string;
  @ApiPropertyOptional(day) readonly date?: string;
}

class ReportSearch implements Line<Report['searches']> {
  @ApiProperty({ enum: ['publicRecords', 'background', 'housingCourt'] })
  readonly section!: 'publicRecords' | 'background' | 'housingCourt';
  @ApiProperty({ description: 'The searched area' }) readonly area!: string;
  @ApiProperty(day) readonly date!: string;
}

class ReportTradeLine implements Line<Report['tradeLines']> {
  @ApiProperty() readonly creditor!: string;
  @ApiProperty(words('REVOLVING', 'INSTALLMENT', 'MORTGAGE')) readonly type!: string;
  @ApiProperty({ pattern: '^\\d{1,4}$', description: 'The last digits of the account' }) readonly account!: string;
  @ApiProperty(day) readonly openedOn!: string;
  @ApiProperty(words('CURRENT', 'PAST_DUE', 'COLLECTION', 'CHARGED_OFF', 'CLOSED')) readonly status!: string;
  @ApiProperty(cents) readonly balanceCents!: number;
  @ApiProperty(centsOrNull) readonly limitCents!: number | null;
  @ApiProperty(cents) readonly pastDueCents!: number;
  @ApiProperty({ pattern: '^[A-Za-z0-9]{0,240}$', description: 'One letter or digit a month, the newest first' })
  readonly paymentHistory!: string;
}

class ReportPublicRecord implements Line<Report['publicRecords']> {
  @ApiProperty() readonly type!: string;
  @ApiProperty() readonly court!: string;
  @ApiProperty(day) readonly filedOn!: string;
  @ApiProperty() readonly status!: string;
  @ApiProperty(centsOrNull) readonly amountCents!: number | null;
}

class ReportInquiry implements Line<Report['inquiries']> {
  @ApiProperty() readonly subscriber!: string;
  @ApiProperty(day) readonly date!: string;
  @ApiProperty() readonly purpose!: string;
}

class ReportBackgroundRecord implements Line<Report['background']> {
  @ApiProperty() readonly jurisdiction!: string;
  @ApiProperty() readonly offense!: string;
  @ApiProperty() readonly severity!: string;
  @ApiProperty(day) readonly date!: string;
  @ApiProperty() readonly disposition!: string;
}

class ReportHousingCourtRecord implements Line<Report['housingCourt']> {
  @ApiProperty() readonly court!: string;
  @ApiProperty() readonly caseType!: string;
  @ApiProperty(day) readonly filedOn!: string;
  @ApiProperty() readonly outcome!: string;
  @ApiProperty(centsOrNull) readonly judgmentCents!: number | null;
}

class ReportFile implements Omit<Report, 'background' | 'housingCourt'> {
  @ApiProperty({ type: ReportConsumer }) readonly consumer!: ReportConsumer;
  @ApiPropertyOptional({ type: [ReportAlert] }) readonly alerts?: readonly ReportAlert[];
  @ApiPropertyOptional({ type: [ReportSearch], description: 'The searches of records made for this report' })
  readonly searches?: readonly ReportSearch[];
  @ApiProperty({ type: [ReportTradeLine] }) readonly tradeLines!: readonly ReportTradeLine[];
  @ApiProperty({ type: [ReportPublicRecord] }) readonly publicRecords!: readonly ReportPublicRecord[];
  @ApiProperty({ type: [ReportInquiry] }) readonly inquiries!: readonly ReportInquiry[];
}

const SECTION = { nullable: true, description: 'Null when the report was ordered without this section' } as const;
const BACKGROUND = { type: [ReportBackgroundRecord] as [typeof ReportBackgroundRecord], ...SECTION };
const HOUSING_COURT = { type: [ReportHousingCourtRecord] as [typeof ReportHousingCourtRecord], ...SECTION };

export class CreditReport extends ReportFile implements Report {
  @ApiProperty(BACKGROUND) readonly background!: readonly ReportBackgroundRecord[] | null;
  @ApiProperty(HOUSING_COURT) readonly housingCourt!: readonly ReportHousingCourtRecord[] | null;
}

/** A report whose reader may leave sections out. */
export class PartyCreditReport extends ReportFile implements Partial<Report> {
  @ApiPropertyOptional(BACKGROUND) readonly background?: readonly ReportBackgroundRecord[] | null;
  @ApiPropertyOptional(HOUSING_COURT) readonly housingCourt?: readonly ReportHousingCourtRecord[] | null;
}
