/** The links in the status of an income session. This class is also the injection token. */
export abstract class IncomeLinks {
  /** The address at which a server reads the report; null if the service's public address is not configured. */
  abstract reportUrl(incomeSessionId: string): string | null;
}
