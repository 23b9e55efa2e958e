// The person of a report or of an income inquiry, in the form that the bureau or the income vendor receives.
import type { Applicant, Device } from './applicant.js';
import type { EndUserType } from './end-user-type.js';
import type { PermissiblePurpose } from './permissible-purpose.js';

/** The person's own data, without the facts about a device, for a vendor that knows no session of the identity vendor. */
export type KeptApplicant = Omit<Applicant, keyof Device> & Pick<Device, 'address'>;

/** How a vendor knows the person: by the identity vendor's token, or by the person's own data. */
export type KnownPerson =
  | { readonly kind: 'session'; readonly token: string }
  | { readonly kind: 'applicant'; readonly applicant: KeptApplicant };

/** The person, and the facts on which the right to the inquiry rests. Personal data: only in memory. */
export interface VendorSubject {
  readonly person: KnownPerson;
  /** A vendor's folder has the vendor's code for the purpose. */
  readonly purpose: PermissiblePurpose;
  /** The kind of customer for which the person is screened; null if neither the grant nor the page gave it. */
  readonly endUserType: EndUserType | null;
  /** The id of the account that asks. */
  readonly askedBy: string;
  /** ISO 8601 UTC, and the version of the text. Null if the integrator's server has recorded the consent. */
  readonly consent: { readonly acceptedAt: string | null; readonly termsVersion: string | null };
}

/** For a vendor that needs a session. Throws for a person without a session. Such a vendor is never asked about this person. */
export function tokenOf({ person }: VendorSubject): string {
  if (person.kind !== 'session') throw new Error('The vendor knows persons by sessions only');
  return person.token;
}
