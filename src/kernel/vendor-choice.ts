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
