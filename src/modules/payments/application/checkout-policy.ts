/** The limits of hosted checkouts (docs/contract/direct.md#checkout), which the process reads at its start. */
export class CheckoutPolicy {
  constructor(
    /** The guard period: the time in which a renter who has paid does not pay again. */
    readonly guardSeconds: number,
  ) {}
}
