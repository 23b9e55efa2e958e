// The request to screen a person, and the command that is made from it.
import type { NewAttempt } from '../../../challenges/domain/challenge.js';
import { DomainError, fieldError } from '../../../kernel/domain-error.js';
import type { EndUserType } from '../../../kernel/end-user-type.js';
import { type Language, shownDigestOf, shownIn } from '../../../kernel/terms.js';
import type { NamedPurpose, PermissiblePurpose } from '../../../kernel/permissible-purpose.js';
import type { Applicant } from '../../../ports/identity-vendor.js';
import type { AccountFacts } from '../../../published/accounts.js';
import type { GivenConsent } from '../../../published/consents.js';
import type { GrantFacts } from '../../../published/session-grants.js';
import type { ConsentCommand } from '../domain/consent.js';
import { INCOME_TERMS, INSTALLATION_TERMS } from '../domain/installation-terms.js';
import type { SessionCommand } from '../domain/screening-session.js';
import type { UnitAddressContent } from '../domain/session.js';
import type { PersonNames } from './person-names.js';

export interface ScreeningRequest {
  readonly sessionId: string;
  readonly applicant: Applicant;
  /** The session grant of the submission; null if none exists. */
  readonly grantId: string | null;
  /** The address of the browser that sent the submission (see SubmissionLimits); null if a server sent it. */
  readonly clientAddress: string | null;
  /** The party of the direct API that the session verifies; null for a person who uses a page. */
  readonly partyId: string | null;
  readonly said: SaidByPage;
}

/** The facts that a page gives in addition to the person's details. */
export interface SaidByPage {
  readonly termsVersion?: string;
  readonly termsLanguage?: Language;
  readonly endUserType?: EndUserType;
  readonly purpose?: PermissiblePurpose;
  readonly unitAddress?: UnitAddressContent['unitAddress'];
}

export type SubmitCommand = Extract<SessionCommand, { kind: 'submit' }>;

/** Throws if the account does not offer what the page requests. */
export function admitToAccount({ applicant, partyId, said }: ScreeningRequest, account: AccountFacts): void {
  if (!account.products.includes(applicant.userType))
    throw new DomainError('screening.product_not_enabled', { field: 'person.userType' });
  // If a server names a product for one of its parties, the vendor checks the product.
  if (partyId === null && applicant.productId !== undefined && !account.productIds.includes(applicant.productId))
    throw fieldError('request.invalid', 'screening.productId', 'must be a product of the account');
  // A consent must name a text that existed, so a page must not invent a version of the terms.
  if (
    said.termsVersion !== undefined &&
    ![...account.termsVersions, INSTALLATION_TERMS.version].includes(said.termsVersion)
  )
    throw fieldError('request.invalid', 'screening.termsVersion', 'must be a version of the terms of the account');
}

/** The consent as it is recorded. The text is known if its version is the present one. */
export function consentOf(
  { acceptedAt, termsVersion, termsLanguage }: GivenConsent,
  { terms }: AccountFacts,
): ConsentCommand {
  const known = [terms, INSTALLATION_TERMS, INCOME_TERMS].find((one) => one?.version === termsVersion);
  const shown = known && termsLanguage && shownIn(known, termsLanguage);
  return {
    kind: 'give',
    recordedBy: acceptedAt === undefined ? 'INTEGRATOR' : 'PAGE',
    ...(acceptedAt !== undefined && { acceptedAt }),
    ...(termsVersion !== undefined && { termsVersion }),
    ...(shown && { language: shown.language, textDigest: shownDigestOf(shown) }),
  };
}

export function submissionOf(
  { applicant, partyId, said }: ScreeningRequest,
  { consumerPays }: AccountFacts,
  { personId, countedAs, registeredAs }: PersonNames,
  grant: GrantFacts | null,
): Omit<SubmitCommand, keyof NewAttempt | 'subjectId' | 'vendors'> {
  const { userType, termsAcceptedAt, productId } = applicant;
  const { termsVersion } = said;
  const { purpose, endUserType } = namedPurpose(grant, said);
  return {
    kind: 'submit',
    personId,
    userType,
    ...(termsAcceptedAt !== undefined && { termsAcceptedAt }),
    ...(termsVersion !== undefined && { termsVersion }),
    ...(endUserType !== null && { endUserType }),
    ...(purpose !== null && { purpose }),
    ...(productId !== undefined && { productId }),
    paymentRequired: userType === 'CONSUMER' && consumerPays,
    ...(grant && {
      grantId: grant.grantId,
      ...(grant.recipientAccountId && { intendedRecipientId: grant.recipientAccountId }),
      ...(grant.externalIdHash !== null && { externalIdHash: grant.externalIdHash }),
    }),
    ...(partyId !== null && { partyId }),
    countedAs,
    ...(registeredAs !== undefined && { registeredAs }),
  };
}

/** The purpose and the end user of the session. The values of the grant count before those of the page. */
export function namedPurpose(grant: GrantFacts | null, said: SaidByPage): NamedPurpose {
  return { purpose: purposeIn(grant, said) ?? null, endUserType: endUserTypeOf(grant, said) ?? null };
}

/** The purpose of the grant, which a page may repeat. If the grant has none, the page's purpose is used. */
function purposeIn(grant: GrantFacts | null, { purpose }: SaidByPage): PermissiblePurpose | undefined {
  const granted = grant?.purpose ?? null;
  if (granted === null) return purpose;
  if (purpose !== undefined && purpose !== granted)
    throw fieldError('request.invalid', 'screening.purpose', `must be ${granted}, as the session grant says`);
  return granted;
}

/** The end user type of the grant, which a page may repeat. If the grant has none, the page's end user type is used. */
function endUserTypeOf(grant: GrantFacts | null, { endUserType }: SaidByPage): EndUserType | undefined {
  const granted = grant === null || grant.endUserType === 'OTHER' ? null : grant.endUserType;
  if (granted === null) return endUserType;
  if (endUserType !== undefined && endUserType !== granted)
    throw fieldError('request.invalid', 'screening.endUserType', `must be ${granted}, as the session grant says`);
  return granted;
}
