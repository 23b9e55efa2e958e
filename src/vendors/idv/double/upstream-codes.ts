// The upstream's own numbers for what went wrong, with the HTTP status each travels under.
import { FILE_CODES } from './file-codes.js';

export const UPSTREAM_CODES: Readonly<Record<number, { readonly status: number; readonly message: string }>> = {
  10: { status: 422, message: 'minor consumer' },
  13: { status: 400, message: 'format error' },
  18: { status: 422, message: 'reported as fraud' },
  45: { status: 400, message: 'invalid surname' },
  49: { status: 400, message: 'invalid zip code' },
  92: { status: 400, message: 'state legislation requires more identification' },
  106: { status: 400, message: 'invalid surname' },
  258: { status: 503, message: 'service unavailable' },
  259: { status: 503, message: 'service unavailable' },
  304: { status: 503, message: 'service unavailable' },
  313: { status: 422, message: 'no processing of zip codes of this state' },
  323: { status: 422, message: 'incomplete data' },
  324: { status: 503, message: 'service unavailable' },
  352: { status: 503, message: 'service unavailable' },
  358: { status: 503, message: 'service unavailable' },
  362: { status: 503, message: 'service unavailable' },
  403: { status: 400, message: 'SSN required' },
  404: { status: 400, message: 'generation code required' },
  405: { status: 400, message: 'year of birth required' },
  406: { status: 400, message: 'middle name required' },
  407: { status: 400, message: 'unable to standardize address' },
  627: { status: 400, message: 'invalid street address' },
  633: { status: 400, message: 'address exceeds the maximum length' },
  708: { status: 400, message: 'input validation' },
  709: { status: 400, message: 'invalid user id or password' },
  710: { status: 504, message: 'authentication session expired' },
  711: { status: 400, message: 'end user required' },
  720: { status: 503, message: 'other system error' },
  1004: { status: 500, message: 'invalid request' },
  1010: { status: 500, message: 'user not found' },
  1999: { status: 422, message: 'match on alert list' },
  2004: { status: 422, message: 'product not enabled' },
  2501: { status: 422, message: 'exceeded the limit of authentication attempts' },
  2503: { status: 422, message: 'match on sanctions list' },
  2802: { status: 422, message: 'report expired' },
  3014: { status: 422, message: 'no record found' },
  3901: { status: 422, message: 'consumer reported as deceased' },
  ...FILE_CODES,
};

/** What an unlisted code looks like: the upstream's list is not complete. */
export const UNLISTED_CODE = { status: 422, message: 'other condition' };

/** From here on the numbers are those of the credit file; they come up when a report is pulled, never at registration. */
export const FIRST_FILE_CODE = 9_000;
