/** The part of a person's data that an identity vendor refused. */
export type RefusedInput =
  | 'first-name'
  | 'middle-name'
  | 'last-name'
  | 'date-of-birth'
  | 'ssn'
  | 'phone'
  | 'email'
  | 'company-name'
  | 'address'
  | 'city'
  | 'state'
  | 'zip'
  | 'device'
  | 'ssn-missing'
  | 'middle-name-missing'
  | 'generation-code-missing'
  | 'format'
  | 'more-identification'
  | 'unspecified';

export const REFUSAL_REASONS = [
  'IDENTITY_NOT_FOUND',
  'FRAUD_REPORTED',
  'SANCTIONS_MATCH',
  'ALERT_LIST_MATCH',
  'DECEASED',
  'MINOR_CONSUMER',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** A vendor's decision against a request. `refused-otherwise`: for a reason that the vendor does not give. */
export type VendorRefusal =
  RefusalReason | RefusedInput | 'session-over' | 'product-not-enabled' | 'report-expired' | 'refused-otherwise';
