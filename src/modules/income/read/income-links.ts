/** Addresses in a status; also the injection token. */
export abstract class IncomeLinks {
  /** The address at which a server reads the report; null when the service does not know its public address. */
  abstract reportUrl(incomeSessionId: string): string | null;
}
