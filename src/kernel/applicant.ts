// A person and a device, as an identity vendor receives them.

/**
 * The person and device as sent to the vendor. Personal data: it is only in memory, or sealed on its way to a worker. The platform always fills the
 * required fields in their form. A server of the direct API may omit every field but the type and the fingerprint, or write it in another form. The
 * vendor then refuses it.
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
  /** ISO 8601 UTC. Absent when the integrator's server holds the consent. */
  readonly termsAcceptedAt?: string;
}

/** The address of a person's connection, and the fingerprint of the device. */
export interface Device {
  readonly address?: Readonly<Partial<Record<'street' | 'city' | 'state' | 'zip', string>>>;
  /** The person's address, as the integrator's server saw it. */
  readonly ipAddress?: string;
  /** Device fingerprint, opaque. Never logged, cached or stored. */
  readonly jscPayload: string;
  readonly hdimPayload?: string;
}
