// Who is verified, as an identity vendor is told.

/**
 * The person and device as sent to the vendor. Personal data: only ever in memory, or sealed on its way to a worker. What the
 * platform asks for is always there and in its form; servers of the direct API may leave anything out but the type and the
 * fingerprint, or write it in another form, which the vendor refuses then.
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
  /** ISO 8601 UTC; absent where the integrator's server holds the consent. */
  readonly termsAcceptedAt?: string;
}

/** Where somebody sits, and the fingerprint of what they use. */
export interface Device {
  readonly address?: Readonly<Partial<Record<'street' | 'city' | 'state' | 'zip', string>>>;
  /** Of the person, as the integrator's server saw it. */
  readonly ipAddress?: string;
  /** Device fingerprint, opaque. Never logged, cached or stored. */
  readonly jscPayload: string;
  readonly hdimPayload?: string;
}
