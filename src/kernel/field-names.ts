/**
 * The fields that domain and application refuse, in their own words. Each API surface maps them to the names of its wire.
 * What an operator types has names of its own and is no field of a surface.
 */
export type FieldName =
  | 'person.userType'
  | 'person.firstName'
  | 'person.middleName'
  | 'person.lastName'
  | 'person.birthDate'
  | 'person.ssn'
  | 'person.phone'
  | 'person.email'
  | 'person.companyName'
  | 'address.street'
  | 'address.city'
  | 'address.state'
  | 'address.postalCode'
  | 'device.fingerprint'
  | 'device.ipAddress'
  | 'screening.endUserType'
  | 'screening.productId'
  | 'screening.termsVersion'
  | 'otp.code'
  | 'kba.answers'
  | 'share.recipient'
  | 'pdf.page'
  | 'payment.amount'
  | 'payment.applicationFee'
  | 'income.screening'
  | 'grant.recipient'
  | 'grant.applicationFee'
  | 'webhook.url';
