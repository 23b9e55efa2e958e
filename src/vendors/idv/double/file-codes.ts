// The credit file's numbers for failed pulls, each with its HTTP status.

interface Coded {
  readonly status: number;
  readonly message: string;
}

const REPORT_CODES: Readonly<Record<number, Coded>> = {
  9001: { status: 500, message: 'company not properly configured' },
  9002: { status: 500, message: 'company not configured in customer master' },
  9003: { status: 500, message: 'unable to retrieve subscription data' },
  9004: { status: 500, message: 'unable to build credit report inquiry' },
  9005: { status: 422, message: 'service unavailable' },
  9006: { status: 400, message: 'sharing user not found' },
  9007: { status: 400, message: 'viewer user not found' },
  9008: { status: 500, message: 'unable to get valid users for company' },
  9009: { status: 400, message: 'invalid sharing purpose' },
  9010: { status: 401, message: 'user is not authenticated' },
  9011: { status: 401, message: 'viewer is not authenticated' },
  9012: { status: 500, message: 'invalid transaction id' },
  9014: { status: 422, message: 'product not sharable' },
  9015: { status: 422, message: 'report expired' },
  9016: { status: 422, message: 'report not found' },
  9018: { status: 422, message: 'ssn and dob required for background data' },
  9110: { status: 422, message: 'consumer is a minor' },
  9116: { status: 422, message: 'file blocked' },
  9132: { status: 422, message: 'file locked' },
  9193: { status: 422, message: 'no record found' },
  9987: { status: 500, message: 'an account with the credit bureau is required' },
  9995: { status: 422, message: 'invalid SSN' },
  9996: { status: 422, message: 'invalid date of birth' },
  9997: { status: 500, message: 'system error' },
  9999: { status: 500, message: 'eviction search unavailable' },
};

/** 10000 plus the number of the credit-file system. Format, subscriber, inquiry type, length of names, too little data. */
const INQUIRY_CODES: readonly number[] = [
  10_015, 10_019, 10_031, 10_037, 10_043, 10_045, 10_053, 10_061, 10_067, 10_130, 10_139, 10_173, 10_222, 10_621,
  10_631, 10_632, 10_633, 10_634, 10_639, 10_653, 10_901, 10_936, 10_945, 10_946,
];

/** 10000 plus the number of the credit-file system. Address, zip, house number, SSN, generation code, year of birth, names, city and state. */
const INPUT_CODES: readonly number[] = [
  10_047, 10_049, 10_054, 10_055, 10_056, 10_073, 10_092, 10_216, 10_402, 10_403, 10_404, 10_405, 10_406, 10_407,
  10_408, 10_616, 10_627, 10_630,
];

export const FILE_CODES: Readonly<Record<number, Coded>> = {
  ...REPORT_CODES,
  ...Object.fromEntries(
    INQUIRY_CODES.map((code) => [code, { status: 500, message: `inquiry not accepted (${fileCode(code)})` }]),
  ),
  ...Object.fromEntries(
    INPUT_CODES.map((code) => [code, { status: 400, message: `other data of the person needed (${fileCode(code)})` }]),
  ),
};

/** The message in the credit-file system's own words. */
function fileCode(code: number): string {
  return String(code - 10_000).padStart(3, '0');
}
