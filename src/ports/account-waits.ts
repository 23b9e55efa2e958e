/** Something that an object of an account does at a time of the account's clock. */
export interface Wait {
  /** The object and its kind. */
  readonly id: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Does what is due, and returns what the object and its consequences wait for now. Safe to repeat. */
  settle(): Promise<readonly Wait[]>;
}

/** A kind of waits of test accounts. No timer of the machine ends these waits in time when the account has turned its clock. */
export class AccountWaits {
  constructor(
    /** All waits in the account's test environment, in any order, later ones too. Throws Unavailable while the lists are behind the log. */
    readonly of: (accountId: string) => Promise<readonly Wait[]>,
  ) {}
}
