// Readers of the values that options and messages share.
import type { EndUserType, IncomeRoute, Step, UserType, VerificationStatus, View, WarningCode } from './callbacks.js';
import type { Appearance, Prefill, UnitAddress } from './options.js';
import { fields, integer, oneOf, type Reader, text } from './readers.js';

export const readView = oneOf<View>('screening', 'report', 'income', 'rights');
export const readStep = oneOf<Step>(
  'details',
  'choice',
  'otp',
  'kba',
  'payment',
  'report',
  'share',
  'income',
  'rights',
);
export const readUserType = oneOf<UserType>('CONSUMER', 'AGENT', 'PMC');
export const readEndUserType = oneOf<EndUserType>('INDEPENDENT_OWNER', 'REAL_ESTATE_AGENT', 'PROPERTY_MANAGEMENT');
export const readIncomeRoute = oneOf<IncomeRoute>('PAYROLL', 'BANKING');
export const readVerificationStatus = oneOf<VerificationStatus>(
  'SUBMITTED',
  'STEP_UP_REQUIRED',
  'OTP_PENDING',
  'KBA_PENDING',
  'VERIFIED',
  'BLOCKED',
  'EXPIRED',
  'ERROR',
);
export const readWarningCode = oneOf<WarningCode>(
  'INVALID_PREFILL_FIELDS',
  'IGNORED_END_USER_TYPE',
  'INVALID_PRODUCT_ID',
  'INVALID_APPLICATION_FEE',
  'INVALID_END_USER_TYPE',
  'DELEGATION_UNSUPPORTED',
);

/** Codes of errors and reasons. New codes may be added, so any text with this spelling is accepted. */
export const readCode = text(100, /^[A-Z][A-Z0-9_]+$/);
export const readMessage = text(500);
/** An id of the service or of the payment processor. */
export const readId = text(255, /^[\w-]+$/);
export const readUuid = text(36, /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i);
/** In cents: the largest part of a price that the platform may keep. */
export const readApplicationFee = integer(1, 1_000_000);
export const readProductId = integer(0);

/** A BCP 47 tag. */
export const readLocale = text(35, /^[a-z]{2,3}(?:-[a-z0-9]{1,8})*$/i);

const readLine = text(255);
const readAddressParts = fields<Exclude<UnitAddress, string>>(
  {
    address: readLine,
    city: readLine,
    state: readLine,
    zip: readLine,
  },
  {},
);
export const readUnitAddress: Reader<UnitAddress> = (value) => readLine(value) ?? readAddressParts(value);

const readCss = text(255);
export const APPEARANCE_READERS = {
  theme: oneOf('light', 'dark'),
  accentColor: readCss,
  backgroundColor: readCss,
  textColor: readCss,
  borderRadius: readCss,
  fontFamily: readCss,
  spacing: readCss,
} satisfies { readonly [Name in keyof Appearance]-?: unknown };
export const readAppearance = fields<Appearance>({}, APPEARANCE_READERS);

const readPrefilled: Reader<string> = (value) => (typeof value === 'string' && value.length <= 255 ? value : undefined);
export const PREFILL_READERS = {
  firstName: readPrefilled,
  middleName: readPrefilled,
  lastName: readPrefilled,
  dateOfBirth: readPrefilled,
  phoneNumber: readPrefilled,
  email: readPrefilled,
  currentAddress: readPrefilled,
  currentCity: readPrefilled,
  currentState: readPrefilled,
  currentZip: readPrefilled,
  companyName: readPrefilled,
} satisfies { readonly [Name in keyof Prefill]-?: unknown };
export const readPrefill = fields<Prefill>({}, PREFILL_READERS);
