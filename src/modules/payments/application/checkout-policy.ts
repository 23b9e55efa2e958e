/** The limits that hosted checkouts run by (docs/contract/direct.md#checkout), given at start. */
export class CheckoutPolicy {
  constructor(
    /** For how long who has paid does not pay again. */
    readonly guardSeconds: number,
  ) {}
}
