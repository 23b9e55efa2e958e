// A step that the person takes at the vendor, such as a log-in at the payroll of the employer.

/**
 * How the vendor is opened: at an address, or by the vendor's own SDK in the page, which gets the token. Both admit the person to the inquiry, so only
 * the vault stores them.
 */
export type UserActionOpening = { readonly url: string } | { readonly sdk: string; readonly token: string };

/** `until`: the end of the round, ISO 8601 UTC. */
export interface UserAction {
  readonly open: UserActionOpening;
  readonly until: string;
}
