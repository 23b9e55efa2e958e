// The numbers that integrators of the direct API were promised, written by hand. The test compares the surface with
// these numbers (docs/contract/direct.md#errors, #older-codes).

export interface NumericCode {
  readonly code: number;
  readonly status: number;
  readonly message: string;
}

/** The service's own codes, each with its possible HTTP statuses. */
export const CURRENT_CODES: readonly { readonly code: number; readonly statuses: readonly number[] }[] = [
  { code: 121, statuses: [400, 413] },
  { code: 123, statuses: [503] },
  { code: 130, statuses: [500] },
  { code: 131, statuses: [502] },
  { code: 138, statuses: [400] },
  { code: 278, statuses: [404] },
  { code: 285, statuses: [402] },
  { code: 292, statuses: [409] },
  { code: 293, statuses: [404] },
  { code: 300, statuses: [423] },
  { code: 324, statuses: [403] },
  { code: 341, statuses: [409] },
];

/** HTTP statuses that the table of errors does not mention. */
export const ADDED_STATUSES: readonly { readonly code: number; readonly statuses: readonly number[] }[] = [
  // Errors: an unknown path, content in another type, a conflict, too many requests, plain HTTP.
  { code: 121, statuses: [404, 406, 409, 429, 403] },
  // Errors: a late request, a URL or headers that are too long, an encoding, an expectation.
  { code: 121, statuses: [408, 414, 431, 415, 417] },
  // Failures of the service or the vendor that have an HTTP status of their own.
  { code: 130, statuses: [503] },
  { code: 131, statuses: [504] },
];

/** Codes of older interfaces. */
export const OLDER_CODES: readonly NumericCode[] = [
  { code: 1001, status: 500, message: 'internal error with details' },
  { code: 1004, status: 500, message: 'invalid request' },
  { code: 1010, status: 500, message: 'user not found (token, user id, company id)' },
  { code: 1999, status: 422, message: 'match on alert list' },
  { code: 2004, status: 422, message: 'invalid product required' },
  { code: 2801, status: 500, message: 'invalid userToken or transactionID' },
  { code: 2802, status: 422, message: 'report expired' },
  { code: 2000, status: 503, message: 'authentication service unavailable' },
  { code: 2001, status: 422, message: 'auth general error' },
  { code: 2002, status: 400, message: 'invalid parameter' },
  { code: 2010, status: 422, message: 'minor consumer' },
  { code: 2013, status: 400, message: 'format error' },
  { code: 2018, status: 422, message: 'reported as fraud' },
  { code: 2045, status: 400, message: 'invalid surname' },
  { code: 2049, status: 400, message: 'invalid zipcode' },
  { code: 2092, status: 400, message: 'state legislation requires more identification' },
  { code: 2403, status: 400, message: 'SSN required' },
  { code: 2404, status: 400, message: 'generation code required' },
  { code: 2405, status: 400, message: 'year of birth required' },
  { code: 2406, status: 400, message: 'middle name required' },
  { code: 2407, status: 400, message: 'unable to standardize address' },
  { code: 2500, status: 504, message: 'authentication session expired' },
  { code: 2501, status: 422, message: 'exceeded limit of authentication attempts' },
  { code: 2502, status: 401, message: 'failed authentication' },
  { code: 2503, status: 422, message: 'match on sanctions list' },
  { code: 2627, status: 400, message: 'invalid street address' },
  { code: 2633, status: 400, message: 'address exceeds max length' },
  { code: 2709, status: 400, message: 'invalid user id or password' },
  { code: 2711, status: 400, message: 'end user required' },
  { code: 3001, status: 500, message: 'unable to retrieve identity questions' },
  { code: 3002, status: 401, message: 'user is already verified' },
  { code: 3008, status: 401, message: 'unable to verify identity, check answers' },
  { code: 3009, status: 504, message: 'identity verification session expired' },
  { code: 3011, status: 504, message: 'unable to verify identity now' },
  { code: 3012, status: 500, message: 'unable to retrieve identity questions' },
  { code: 3014, status: 422, message: 'no record found' },
  { code: 3015, status: 422, message: 'authentication failed' },
  { code: 3901, status: 422, message: 'consumer reported as deceased' },
  { code: 7001, status: 401, message: 'unauthorized request' },
  { code: 7002, status: 500, message: 'security violation, missing product' },
  { code: 7004, status: 500, message: 'security violation, missing role' },
  { code: 9001, status: 500, message: 'company not properly configured' },
  { code: 9002, status: 500, message: 'company not configured in customer master' },
  { code: 9003, status: 500, message: 'unable to retrieve subscription data' },
  { code: 9004, status: 500, message: 'unable to build credit report inquiry' },
  { code: 9005, status: 422, message: 'service unavailable' },
  { code: 9006, status: 400, message: 'sharing user not found' },
  { code: 9007, status: 400, message: 'viewer user not found' },
  { code: 9008, status: 500, message: 'unable to get valid users for company' },
  { code: 9009, status: 400, message: 'invalid sharing purpose' },
  { code: 9010, status: 401, message: 'user is not authenticated' },
  { code: 9011, status: 401, message: 'viewer is not authenticated' },
  { code: 9012, status: 500, message: 'invalid transaction id' },
  { code: 9014, status: 422, message: 'product not sharable' },
  { code: 9015, status: 422, message: 'report expired' },
  { code: 9016, status: 422, message: 'report not found' },
  { code: 9018, status: 422, message: 'ssn and dob required for background data' },
  { code: 9110, status: 422, message: 'consumer is a minor' },
  { code: 9116, status: 422, message: 'file blocked' },
  { code: 9132, status: 422, message: 'file locked' },
  { code: 9193, status: 422, message: 'no record found' },
  { code: 9987, status: 500, message: 'an account with the credit bureau is required' },
  { code: 9995, status: 422, message: 'invalid SSN' },
  { code: 9996, status: 422, message: 'invalid date of birth' },
  { code: 9997, status: 500, message: 'system error' },
  { code: 9999, status: 500, message: 'eviction search unavailable' },
];

/** The code is 10000 plus the number of the credit-file system. The message comes from that system too. */
export const CREDIT_FILE_CODES: readonly { readonly status: number; readonly codes: readonly number[] }[] = [
  {
    status: 500,
    codes: [
      10_015, 10_019, 10_031, 10_037, 10_043, 10_045, 10_053, 10_061, 10_067, 10_130, 10_139, 10_173, 10_222, 10_621,
      10_631, 10_632, 10_633, 10_634, 10_639, 10_653, 10_901, 10_936, 10_945, 10_946,
    ],
  },
  {
    status: 400,
    codes: [
      10_047, 10_049, 10_054, 10_055, 10_056, 10_073, 10_092, 10_216, 10_402, 10_403, 10_404, 10_405, 10_406, 10_407,
      10_408, 10_616, 10_627, 10_630,
    ],
  },
];

const EVERYWHERE = ['registration', 'answers', 'resend', 'reauthentication'] as const;
export type IdentityStep = (typeof EVERYWHERE)[number];

/** The codes for the identity vendor's own numbers, and the steps to which they apply. */
export const UPSTREAM_NUMBERS: readonly {
  readonly numbers: readonly number[];
  readonly code: number;
  readonly steps?: readonly IdentityStep[];
  /** This is set when the HTTP status differs from the status of the code. */
  readonly status?: number;
}[] = [
  { numbers: [10], code: 2010 },
  { numbers: [13], code: 2013 },
  { numbers: [18], code: 2018 },
  { numbers: [45, 106], code: 2045 },
  { numbers: [49], code: 2049 },
  { numbers: [92], code: 2092 },
  { numbers: [258, 259, 304, 324, 352, 358, 362], code: 2000 },
  { numbers: [313, 323], code: 2001 },
  { numbers: [720], code: 2001, steps: ['registration', 'answers', 'resend'] },
  { numbers: [720], code: 3001, steps: ['reauthentication'], status: 503 },
  { numbers: [403], code: 2403 },
  { numbers: [404], code: 2404 },
  { numbers: [405], code: 2405 },
  { numbers: [406], code: 2406 },
  { numbers: [407], code: 2407 },
  { numbers: [627], code: 2627 },
  { numbers: [633], code: 2633 },
  { numbers: [708], code: 2002 },
  { numbers: [709], code: 2709 },
  { numbers: [710], code: 2500, steps: ['registration', 'answers', 'resend'] },
  { numbers: [710], code: 3009, steps: ['reauthentication'] },
  { numbers: [711], code: 2711 },
  { numbers: [1004], code: 1004, steps: ['reauthentication'], status: 400 },
];

/** Every number of the identity vendor in each step. */
export const UPSTREAM_CASES = UPSTREAM_NUMBERS.flatMap(({ numbers, code, steps = EVERYWHERE, status }) =>
  numbers.flatMap((number) =>
    steps.map((step) => ({
      number,
      step,
      code,
      status: status ?? OLDER_CODES.find((row) => row.code === code)?.status,
    })),
  ),
);
