// The facts that a report's page shows in addition to the bureau's data. A page ends with a keyed digest of itself, by which each process of the
// service recognises it.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { EndUserType } from '../../../kernel/end-user-type.js';
import type { Environment } from '../../../kernel/environment.js';
import type { Vault } from '../../../ports/vault.js';
import { type Accounts, logoUrl } from '../../../published/accounts.js';
import type { Screenings, VerificationMethod } from '../../../published/screenings.js';

/** The request that led to a report. */
export interface ReportRequest {
  readonly environment: Environment;
  /** The name of the account that screened the person. */
  readonly requestedBy: string;
  /** The logo of that account as a data: URL; null: none. */
  readonly logo: string | null;
  /** The kind of end user that the screening is for; null if the account did not say. */
  readonly endUserType: EndUserType | null;
  /** The address of the home, in the words of the page; null if the page gave none. */
  readonly property: string | null;
  /** `at` is ISO 8601 UTC. Null if the session is no longer verified. */
  readonly verified: { readonly how: VerificationMethod; readonly at: string } | null;
}

/** The session must have a report. */
export async function requestOf(sessionId: string, screenings: Screenings, accounts: Accounts): Promise<ReportRequest> {
  const screened = await screenings.screenedFor(sessionId);
  if (screened === null) throw new Error(`Session ${sessionId} has a report and does not exist`);
  const { accountId, environment, endUserType, unitAddress, verifiedBy, verifiedAt } = screened;
  const account = await accounts.find(accountId);
  return {
    environment,
    requestedBy: account?.brand.displayName ?? '',
    logo: account?.brand.logo ? logoUrl(account.brand.logo) : null,
    endUserType,
    property: unitAddress,
    verified: verifiedAt === null || verifiedBy === null ? null : { how: verifiedBy, at: verifiedAt },
  };
}

/** The page of the session's report, with the mark at its end. */
export async function markedPage(vault: Vault, sessionId: string, page: string): Promise<string> {
  const digest = createHmac('sha256', await vault.installationKey('served-pages'));
  return page + markOf(digest.update(JSON.stringify([sessionId, page])).digest('base64'));
}

/** Whether the service served exactly this page for this session's report. */
export async function isServedPage(vault: Vault, sessionId: string, page: string): Promise<boolean> {
  const given = Buffer.from(page);
  const right = Buffer.from(await markedPage(vault, sessionId, page.slice(0, -MARK_LENGTH)));
  return given.length === right.length && timingSafeEqual(given, right);
}

/** The mark at the end of the page. Readers do not see the mark. */
function markOf(digest: string): string {
  return `<!-- As served: ${digest} -->`;
}

const DIGEST_LENGTH = 44;
const MARK_LENGTH = markOf('').length + DIGEST_LENGTH;
