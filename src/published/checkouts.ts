/** Sections that a renter's report omits unless its reader requests them. An absent flag means that the caller gave none. */
export interface ReportFlags {
  readonly excludeBackground?: boolean;
  readonly excludeHousingCourt?: boolean;
}

/** The hosted checkouts of renters, for other modules. */
export abstract class Checkouts {
  /** The flags of the renter's newest checkout; empty without a checkout. `partyId` is that of `PartyFacts`. */
  abstract reportFlags(partyId: string): Promise<ReportFlags>;
}
