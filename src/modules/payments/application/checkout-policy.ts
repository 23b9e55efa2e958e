/** The limits of hosted checkouts (docs/contract/direct.md#checkout), set at the start. */
export class CheckoutPolicy {
  constructor(
    /** How long a renter who has paid does not pay again. */
    readonly guardSeconds: number,
  ) {}
}
