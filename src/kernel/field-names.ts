/**
 * The fields that domain and application refuse. Each API surface maps these fields to its wire names. Values that an operator types have names of
 * their own and are not fields of a surface.
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
  | 'webhook.url'
  | 'test.until';
