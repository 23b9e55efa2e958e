/** What a vendor is for. */
export const CAPABILITIES = ['identity', 'credit', 'income', 'payment'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** What an account chooses the vendor for. The payment processor is the installation's: its events come to one address. */
export const CHOSEN_CAPABILITIES = ['identity', 'credit', 'income'] as const satisfies readonly Capability[];
export type ChosenCapability = (typeof CHOSEN_CAPABILITIES)[number];

/** The ids of the vendors that an account chose. */
export type VendorChoice = Readonly<Record<ChosenCapability, string>>;

/**
 * The vendors of an account that chose none. They also serve what was stored before the vendor was recorded, so that they
 * never change.
 */
export const FIRST_CHOICE: VendorChoice = { identity: 'idv', credit: 'idv', income: 'voie' };

/** The vendor for each capability where none is named. */
export const FIRST_VENDORS: Readonly<Record<Capability, string>> = { ...FIRST_CHOICE, payment: 'stripe' };
