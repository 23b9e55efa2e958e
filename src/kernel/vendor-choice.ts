/** The capabilities of vendors. */
export const CAPABILITIES = ['identity', 'credit', 'income', 'payment'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** The choices of vendors for each new session. `banking`: the income vendor that reads bank transactions, if it is not the vendor of `income`. */
export const ROUTED_CAPABILITIES = ['identity', 'credit', 'income', 'banking'] as const;
export type RoutedCapability = (typeof ROUTED_CAPABILITIES)[number];

/** The capabilities whose vendor an account can choose. The processor is chosen for each new payment, by the account alone. */
export const CHOSEN_CAPABILITIES = [...ROUTED_CAPABILITIES, 'payment'] as const;
export type ChosenCapability = (typeof CHOSEN_CAPABILITIES)[number];

/** The ids of the vendors of a session. Without `banking`, the vendor of `income` reads bank transactions too. Older sessions have no `banking`. */
export type VendorChoice = Readonly<Record<Exclude<RoutedCapability, 'banking'>, string>> & {
  readonly banking?: string;
};

/** The ids of the vendors in the settings of an account. A capability is absent if the account has chosen no vendor for it. */
export type ChosenVendors = Readonly<Partial<Record<ChosenCapability, string>>>;

/** The vendors of an account that has chosen none. Older data names no vendor and means these vendors, so the list never changes. */
export const FIRST_CHOICE: VendorChoice = { identity: 'idv', credit: 'idv', income: 'voie' };

/** The vendor for each capability when none is named. */
export const FIRST_VENDORS: Readonly<Record<Capability, string>> = { ...FIRST_CHOICE, payment: 'stripe' };
