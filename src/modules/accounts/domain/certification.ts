// The permissible purposes that an account certifies (docs/contract/general.md#purposes). The newest certification replaces the one before.
import { END_USER_TYPES } from '../../../kernel/end-user-type.js';
import { PERMISSIBLE_PURPOSES, type Certification } from '../../../kernel/permissible-purpose.js';

interface Fault {
  readonly field: string;
  readonly message: string;
}

/** The first rule that the certification breaks; null if the certification follows all rules. */
export function faultIn({ purposes, endUserTypes, by, textDigest, until }: Certification, now: Date): Fault | null {
  if (!isChoice(purposes, PERMISSIBLE_PURPOSES))
    return { field: 'purposes', message: `The purposes must be one or more of ${PERMISSIBLE_PURPOSES.join(', ')}.` };
  if (endUserTypes !== undefined && !isChoice(endUserTypes, END_USER_TYPES))
    return { field: 'end-users', message: `The end users must be one or more of ${END_USER_TYPES.join(', ')}.` };
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(by))
    return { field: 'by', message: 'The id of the signer has 1 to 64 letters, digits, dashes and underscores.' };
  if (!/^[0-9a-f]{64}$/.test(textDigest))
    return { field: 'text', message: 'The digest of the text must be a SHA-256 in lowercase hex.' };
  if (!(new Date(until) > now)) return { field: 'until', message: 'The certification must end in the future.' };
  return null;
}

function isChoice<Value>(chosen: readonly Value[], offered: readonly Value[]): boolean {
  return chosen.length > 0 && chosen.every((one) => offered.includes(one));
}
