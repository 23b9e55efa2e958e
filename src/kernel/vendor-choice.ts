/** What a vendor is chosen for. */
export const CAPABILITIES = ['identity', 'credit', 'income', 'payment'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** The id of a vendor for each capability. */
export type VendorChoice = Readonly<Record<Capability, string>>;

/**
 * The vendors of an account that chose none. They also serve what was stored before the vendor was recorded, so that they
 * never change.
 */
export const FIRST_VENDORS: VendorChoice = { identity: 'idv', credit: 'idv', income: 'voie', payment: 'stripe' };

/** What names a person, or a person's session, to a vendor. Vault only: never in an event, a job or a log. */
export interface VendorReference {
  readonly vendor: string;
  readonly token: string;
}
