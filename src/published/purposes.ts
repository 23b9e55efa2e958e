// The purpose of a read, and the rule that the account must have certified it (docs/contract/general.md#purposes).
import { DomainError } from '../kernel/domain-error.js';
import {
  DEFAULT_PURPOSE,
  type Certification,
  type NamedPurpose,
  type ReadPurpose,
} from '../kernel/permissible-purpose.js';
import type { AccountFacts } from './accounts.js';

/**
 * The purpose under which the account reads. The first name of each kind counts: the one of the session, of the grant, or of the request. Throws if
 * the account must certify its purposes, and its certification does not cover this one.
 */
export function purposeOfRead(
  { purposeRequired, certification }: Pick<AccountFacts, 'purposeRequired' | 'certification'>,
  named: readonly NamedPurpose[],
  now: Date,
): ReadPurpose {
  const purpose = named.find((one) => one.purpose !== null)?.purpose ?? null;
  const endUserType = named.find((one) => one.endUserType !== null)?.endUserType ?? null;
  if (purposeRequired && !covers(certification, { purpose, endUserType }, now))
    throw new DomainError('report.purpose_not_certified', { field: 'screening.purpose' });
  return { purpose: purpose ?? DEFAULT_PURPOSE, ...(endUserType !== null && { endUserType }) };
}

function covers(certification: Certification | null, { purpose, endUserType }: NamedPurpose, now: Date): boolean {
  if (certification === null || purpose === null || now >= new Date(certification.until)) return false;
  const { purposes, endUserTypes } = certification;
  const isEndUser = endUserTypes === undefined || (endUserType !== null && endUserTypes.includes(endUserType));
  return purposes.includes(purpose) && isEndUser;
}
