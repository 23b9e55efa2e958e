// The page's options, within the limits of the account and the session grant. Pure; flow.ts calls it when it has the account's options.
import type { CallbackPayloads } from '../contract/callbacks.js';
import type { FrameStart } from '../contract/messages.js';
import type { ScreeningOptions } from './api/wire.js';
import { readPrefill } from './steps/details/form.js';

type Warning = CallbackPayloads['onWarning'];

export interface Settled {
  readonly start: FrameStart;
  readonly warnings: readonly Warning[];
}

function applicationFeeIn(
  start: FrameStart,
  { applicationFee: { fixed, max }, grant }: ScreeningOptions,
  warn: (message: string) => void,
): number | null {
  const fee = fixed ?? grant?.applicationFee ?? start.applicationFee;
  if (fee !== null && max !== null && fee > max) {
    warn('The application fee is more than the account may keep; it is left out.');
    return null;
  }
  if (start.applicationFee !== null && fee !== start.applicationFee)
    warn('The session grant, or the account, says another application fee.');
  return fee;
}

/** A grant's value has priority over the page's value. A value that the account does not allow is replaced by the account's own value. */
export function settle(start: FrameStart, options: ScreeningOptions, now: Date): Settled {
  const warnings: Warning[] = [];
  const warn = (code: Warning['code'], message: string): void => void warnings.push({ code, message });

  const endUserType = options.grant?.endUserType ?? start.endUserType;
  if (start.endUserType !== null && endUserType !== start.endUserType)
    warn('IGNORED_END_USER_TYPE', 'The session grant names another end-user type.');

  if (options.grant?.otherEndUserType)
    warn('INVALID_END_USER_TYPE', 'The session grant names no known end-user type; it is left out.');

  const applicationFee = applicationFeeIn(start, options, (message) => warn('INVALID_APPLICATION_FEE', message));

  let { productId } = start;
  if (productId !== null && !options.productIds.includes(productId)) {
    warn('INVALID_PRODUCT_ID', 'The account has no such product; its own is used.');
    productId = null;
  }

  const { valid: prefill, invalid } = readPrefill(start.prefill, now);
  if (invalid.length > 0)
    warnings.push({ code: 'INVALID_PREFILL_FIELDS', message: 'These fields are not filled in.', fields: invalid });

  const userType = options.grant?.userType ?? start.userType;
  return { start: { ...start, userType, endUserType, applicationFee, productId, prefill }, warnings };
}
