/** Sections that a renter's report leaves out unless its reader asks for them. An absent flag was not given. */
export interface ReportFlags {
  readonly excludeBackground?: boolean;
  readonly excludeHousingCourt?: boolean;
}

/** The hosted checkouts of renters, for other modules. */
export abstract class Checkouts {
  /** The flags of the renter's newest checkout; empty without a checkout. `partyId` is the one of `PartyFacts`. */
  abstract reportFlags(partyId: string): Promise<ReportFlags>;
}
