// The names of the lists of screening sessions. Every list is sorted by the time of the submission.
import type { Environment } from '../../../kernel/environment.js';
import { listsBy } from '../../../kernel/projection.js';
import type { OverallStatus } from '../domain/overall-status.js';
import type { Session } from '../domain/session.js';

/** Every list that holds the session. The lists by user type and by external id are those of one account. */
export function listsOfSession(listed: {
  readonly accountId: string;
  readonly environment: Environment;
  readonly session: Pick<Session, 'userType'>;
  readonly overallStatus: OverallStatus;
  /** The hash of the external id (see published/external-ids.ts). */
  readonly externalIdHash: string | null;
}): string[] {
  const { accountId: account, environment, session, overallStatus, externalIdHash } = listed;
  const filters = { userType: session.userType, overallStatus };
  return [
    ...listsBy({ environment }, { overallStatus }),
    ...listsBy({ account, environment }, filters),
    ...(externalIdHash === null ? [] : listsBy({ account, environment, externalIdHash }, filters)),
  ];
}
