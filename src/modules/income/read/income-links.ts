/** Addresses that a status names; also the injection token. */
export abstract class IncomeLinks {
  /** Where a server reads the report; null when the service does not know how the outside calls it. */
  abstract reportUrl(incomeSessionId: string): string | null;
}
