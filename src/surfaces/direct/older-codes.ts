// The numbers that the direct API inherits from older interfaces of the vendors, and the vendors' own numbers that lead to each
// (docs/contract/direct.md#older-codes). This file defines the answers of a surface. The vendor's folder defines the meaning of a number for the
// service.
import type { DomainErrorDetail } from '../../kernel/domain-error.js';
import type { VendorRefusal } from '../../kernel/refused-input.js';
import type { VendorReply, VendorStep } from '../../kernel/vendor-reply.js';

export interface OlderCode {
  readonly code: number;
  readonly status: number;
  readonly message: string;
}

const ROWS: readonly (readonly [code: number, status: number, message: string])[] = [
  [123, 503, 'upstream token service unavailable'],
  [1001, 500, 'internal error with details'],
  [1004, 500, 'invalid request'],
  [1010, 500, 'user not found (token, user id, company id)'],
  [1999, 422, 'match on alert list'],
  [2000, 503, 'authentication service unavailable'],
  [2001, 422, 'auth general error'],
  [2002, 400, 'invalid parameter'],
  [2004, 422, 'invalid product required'],
  [2010, 422, 'minor consumer'],
  [2013, 400, 'format error'],
  [2018, 422, 'reported as fraud'],
  [2045, 400, 'invalid surname'],
  [2049, 400, 'invalid zipcode'],
  [2092, 400, 'state legislation requires more identification'],
  [2403, 400, 'SSN required'],
  [2404, 400, 'generation code required'],
  [2405, 400, 'year of birth required'],
  [2406, 400, 'middle name required'],
  [2407, 400, 'unable to standardize address'],
  [2500, 504, 'authentication session expired'],
  [2501, 422, 'exceeded limit of authentication attempts'],
  [2502, 401, 'failed authentication'],
  [2503, 422, 'match on sanctions list'],
  [2627, 400, 'invalid street address'],
  [2633, 400, 'address exceeds max length'],
  [2709, 400, 'invalid user id or password'],
  [2711, 400, 'end user required'],
  [2801, 500, 'invalid userToken or transactionID'],
  [2802, 422, 'report expired'],
  [3001, 500, 'unable to retrieve identity questions'],
  [3002, 401, 'user is already verified'],
  [3008, 401, 'unable to verify identity, check answers'],
  [3009, 504, 'identity verification session expired'],
  [3011, 504, 'unable to verify identity now'],
  [3012, 500, 'unable to retrieve identity questions'],
  [3014, 422, 'no record found'],
  [3015, 422, 'authentication failed'],
  [3901, 422, 'consumer reported as deceased'],
  [7001, 401, 'unauthorized request'],
  [7002, 500, 'security violation, missing product'],
  [7004, 500, 'security violation, missing role'],
  [9001, 500, 'company not properly configured'],
  [9002, 500, 'company not configured in customer master'],
  [9003, 500, 'unable to retrieve subscription data'],
  [9004, 500, 'unable to build credit report inquiry'],
  [9005, 422, 'service unavailable'],
  [9006, 400, 'sharing user not found'],
  [9007, 400, 'viewer user not found'],
  [9008, 500, 'unable to get valid users for company'],
  [9009, 400, 'invalid sharing purpose'],
  [9010, 401, 'user is not authenticated'],
  [9011, 401, 'viewer is not authenticated'],
  [9012, 500, 'invalid transaction id'],
  [9014, 422, 'product not sharable'],
  [9015, 422, 'report expired'],
  [9016, 422, 'report not found'],
  [9018, 422, 'ssn and dob required for background data'],
  [9110, 422, 'consumer is a minor'],
  [9116, 422, 'file blocked'],
  [9132, 422, 'file locked'],
  [9193, 422, 'no record found'],
  [9987, 500, 'an account with the credit bureau is required'],
  [9995, 422, 'invalid SSN'],
  [9996, 422, 'invalid date of birth'],
  [9997, 500, 'system error'],
  [9999, 500, 'eviction search unavailable'],
];

/**
 * 10000 plus the number of the credit-file system, by HTTP status. The system's own message is passed on. If the system sends none, the message here
 * is used.
 */
const CREDIT_FILE_ROWS: readonly (readonly [status: number, message: string, codes: readonly number[]])[] = [
  [
    500,
    'the credit file system does not accept the inquiry',
    [
      10_015, 10_019, 10_031, 10_037, 10_043, 10_045, 10_053, 10_061, 10_067, 10_130, 10_139, 10_173, 10_222, 10_621,
      10_631, 10_632, 10_633, 10_634, 10_639, 10_653, 10_901, 10_936, 10_945, 10_946,
    ],
  ],
  [
    400,
    'the credit file system needs other data of the person',
    [
      10_047, 10_049, 10_054, 10_055, 10_056, 10_073, 10_092, 10_216, 10_402, 10_403, 10_404, 10_405, 10_406, 10_407,
      10_408, 10_616, 10_627, 10_630,
    ],
  ],
];

const CREDIT_FILE_CODES = CREDIT_FILE_ROWS.flatMap(([status, message, codes]) =>
  codes.map((code): OlderCode => ({ code, status, message })),
);

export const OLDER_CODES: ReadonlyMap<number, OlderCode> = new Map(
  [...ROWS.map(([code, status, message]): OlderCode => ({ code, status, message })), ...CREDIT_FILE_CODES].map(
    (row) => [row.code, row] as const,
  ),
);
const SAID_BY_THE_FILE_SYSTEM: ReadonlySet<number> = new Set(CREDIT_FILE_CODES.map(({ code }) => code));

/** The identity vendor's own numbers, with the service's code for each. */
const UPSTREAM: Readonly<Record<number, number>> = {
  10: 2010,
  13: 2013,
  18: 2018,
  45: 2045,
  49: 2049,
  92: 2092,
  106: 2045,
  258: 2000,
  259: 2000,
  304: 2000,
  313: 2001,
  323: 2001,
  324: 2000,
  352: 2000,
  358: 2000,
  362: 2000,
  403: 2403,
  404: 2404,
  405: 2405,
  406: 2406,
  407: 2407,
  627: 2627,
  633: 2633,
  708: 2002,
  709: 2709,
  710: 2500,
  711: 2711,
  720: 2001,
};

/** The identity vendor's number for each decision of a vendor without numbers; null if no number has this meaning. */
const REFUSALS: Readonly<Record<VendorRefusal, number | null>> = {
  IDENTITY_NOT_FOUND: 3014,
  FRAUD_REPORTED: 18,
  SANCTIONS_MATCH: 2503,
  ALERT_LIST_MATCH: 1999,
  DECEASED: 3901,
  MINOR_CONSUMER: 10,
  'first-name': 13,
  'middle-name': 13,
  'last-name': 45,
  'date-of-birth': 405,
  ssn: 13,
  phone: 13,
  email: 13,
  'company-name': 13,
  address: 407,
  city: 407,
  state: 407,
  zip: 49,
  device: 13,
  'ssn-missing': 403,
  'middle-name-missing': 406,
  'generation-code-missing': 404,
  format: 13,
  'more-identification': 92,
  unspecified: 708,
  'session-over': 710,
  'product-not-enabled': 2004,
  'report-expired': 2802,
  'refused-otherwise': null,
};

/** Exceptions: in some steps a number has another code or message. */
const BY_STEP: Readonly<Partial<Record<VendorStep, Readonly<Record<number, Partial<OlderCode>>>>>> = {
  registration: { 2502: { message: 'auth general error' } },
  resend: { 2502: { message: 'auth general error' } },
  reauthentication: {
    710: { code: 3009 },
    // The vendor was asked for questions and no longer has any.
    720: { code: 3001, status: 503 },
    1004: { status: 400 },
  },
};

/** The code for a vendor's refusal; null if it has no number, or a number that no table lists. */
export function olderCodeOf(vendor: NonNullable<DomainErrorDetail['vendor']>): OlderCode | null {
  const { step } = vendor;
  const { code, message }: Pick<VendorReply, 'code' | 'message'> = vendor.reply ?? {
    code: REFUSALS[vendor.refusal],
    message: null,
  };
  if (code === null) return null;
  const special = BY_STEP[step]?.[code];
  const row = OLDER_CODES.get(special?.code ?? UPSTREAM[code] ?? code);
  if (row === undefined) return null;
  return { ...row, ...special, ...(SAID_BY_THE_FILE_SYSTEM.has(row.code) && message !== null && { message }) };
}

/** The details of an error for every refusal that leads to a number of its own, in every step, and for those without a number. */
export const VENDOR_DETAILS: readonly DomainErrorDetail[] = (
  [
    ...[...OLDER_CODES.keys()].map((code) => [code, 400, 'answers'] as const),
    ...Object.entries(BY_STEP).flatMap(([step, numbers]) =>
      Object.keys(numbers).map((code) => [Number(code), 400, step as VendorStep] as const),
    ),
    [null, 400, 'answers'],
    [null, 500, 'answers'],
  ] as const
).map(([code, status, step]) => ({
  vendor: { reply: { status, code, body: 'null', field: null, message: null }, step },
}));

/** The table of all numbers for the generated document, with the identity vendor's number when it differs. */
export function olderCodesTable(): string[] {
  const upstream = (older: number): string =>
    Object.entries(UPSTREAM)
      .filter(([, code]) => code === older)
      .map(([code]) => code)
      .join(', ');
  return [
    '| Code | HTTP | Message | Vendor says |',
    '|---|---|---|---|',
    ...[...OLDER_CODES.values()].map(
      ({ code, status, message }) =>
        `| \`${code}\` | ${status} | ${SAID_BY_THE_FILE_SYSTEM.has(code) ? 'the message of the credit-file system' : message} | ${upstream(code) || code} |`,
    ),
  ];
}

/** The table of the codes for decisions of vendors without numbers, for the generated document. */
export function decisionsTable(): string[] {
  const codes = (Object.keys(REFUSALS) as VendorRefusal[]).map((refusal) => {
    const said = olderCodeOf({ reply: null, refusal, step: 'registration' });
    return `| \`${refusal}\` | ${said?.status ?? 400} | \`${said?.code ?? 121}\` |`;
  });
  return ['| Decision | HTTP | Code |', '|---|---|---|', ...codes];
}
