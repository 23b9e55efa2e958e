// The income session and its report as both doors tell them (docs/contract/platform.md#income-sessions).
import type { IncomeReport } from '../../../ports/income-vendor.js';
import type { FailureReason, IncomeSession, Route } from '../domain/income.js';
import type { IncomeLinks } from './income-links.js';
import type { IncomeStatus } from './income-status.js';

export interface IncomeStatusView {
  readonly income_session_id: string;
  readonly status: IncomeSession['status'];
  /** The one being tried; afterwards the one that decided or was tried last. */
  readonly route: Route;
  readonly screening_session_id?: string;
  /** Of a FAILED session. */
  readonly reason_code?: FailureReason;
  /** Of a COMPLETED session, when the service has a public address. */
  readonly report_url?: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** Of a COMPLETED session. */
  readonly completed_at?: string;
}

export interface IncomeReportView {
  readonly income_session_id: string;
  readonly route: Route;
  readonly generated_at: string;
  readonly employers: readonly {
    readonly name: string;
    readonly title: string | null;
    readonly started_on: string | null;
    readonly ended_on: string | null;
  }[];
  readonly income: {
    readonly annual_gross_cents: number;
    readonly currency: string;
    readonly pay_frequency: IncomeReport['income']['payFrequency'];
  };
  readonly paystubs: readonly { readonly pay_date: string; readonly gross_cents: number; readonly net_cents: number }[];
}

export function incomeStatusView(
  id: string,
  { session, createdAt, updatedAt }: IncomeStatus,
  links: IncomeLinks,
): IncomeStatusView {
  const reportUrl = session.status === 'COMPLETED' ? links.reportUrl(id) : null;
  return {
    income_session_id: id,
    status: session.status,
    route: session.route,
    ...(session.screeningSessionId === null ? {} : { screening_session_id: session.screeningSessionId }),
    ...(session.status === 'FAILED' ? { reason_code: session.reasonCode } : {}),
    ...(reportUrl === null ? {} : { report_url: reportUrl }),
    created_at: createdAt,
    updated_at: updatedAt,
    ...(session.status === 'COMPLETED' ? { completed_at: updatedAt } : {}),
  };
}

export function incomeReportView(of: {
  readonly incomeSessionId: string;
  readonly route: Route;
  readonly generatedAt: string;
  readonly report: IncomeReport;
}): IncomeReportView {
  const { employers, income, paystubs } = of.report;
  return {
    income_session_id: of.incomeSessionId,
    route: of.route,
    generated_at: of.generatedAt,
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
