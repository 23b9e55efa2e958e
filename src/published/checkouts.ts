/** Sections that a renter's report leaves out unless its reader asks for them; what is absent was not said. */
export interface ReportFlags {
  readonly excludeBackground?: boolean;
  readonly excludeHousingCourt?: boolean;
}

/** The hosted checkouts of renters as other modules see them. */
export abstract class Checkouts {
  /** What the newest checkout of the renter said of their report; empty without one. `partyId` is that of `PartyFacts`. */
  abstract reportFlags(partyId: string): Promise<ReportFlags>;
}
