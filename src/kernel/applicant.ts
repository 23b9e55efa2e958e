// A person and a device, in the form that an identity vendor receives.

/**
 * The person and device that are sent to the vendor. These personal data are only in memory, or encrypted on the way to a worker. The platform always
 * fills the required fields in their documented form. A server of the direct API may omit every field except the type and the fingerprint, or write a
 * field in another form. The vendor then refuses the field.
 */
export interface Applicant extends Device {
  readonly userType: 'CONSUMER' | 'AGENT' | 'PMC';
  readonly firstName?: string;
  readonly middleName?: string;
  readonly lastName?: string;
  /** MMDDYYYY. */
  readonly dateOfBirth?: string;
  /** Nine digits. */
  readonly ssn?: string;
  /** Ten digits. */
  readonly phoneNumber?: string;
  readonly phoneType?: 'C' | 'H' | 'W';
  readonly email?: string;
  readonly companyName?: string;
  readonly mothersMaidenName?: string;
  readonly spouseName?: string;
  readonly propertyZip?: string;
  readonly productId?: number;
  /** ISO 8601 UTC. Absent if the integrator's server has recorded the consent. */
  readonly termsAcceptedAt?: string;
}

/** The address of a person's connection, and the fingerprint of the device. */
export interface Device {
  readonly address?: Readonly<Partial<Record<'street' | 'city' | 'state' | 'zip', string>>>;
  /** The person's network address that the integrator's server saw. */
  readonly ipAddress?: string;
  /** The device fingerprint, an opaque text. The fingerprint is never logged, cached or stored. */
  readonly jscPayload: string;
  readonly hdimPayload?: string;
}
