// Names of operations that several paths of the direct API share, and errors that depend on the path.
import type { ErrorCode } from '../../kernel/error-codes.js';

const RECIPIENT = /\/(agent|organization)s\//;

const named = (kind = ''): string => kind.charAt(0).toUpperCase() + kind.slice(1);

/** `registerRenter` for the path of a renter. */
export const ofParty =
  (verb: string) =>
  (path: string): string =>
    verb + named(/^\/api\/idv\/(\w+)s\//.exec(path)?.[1]);

/** `linkReportToAgent`; for the older spelling of the path, `linkReportToAgentOfRenter`. */
export const ofLink =
  (verb: string) =>
  (path: string): string =>
    `${verb}${named(RECIPIENT.exec(path)?.[1])}${path.startsWith('/api/idv/renters/') ? 'OfRenter' : ''}`;

/** Another name for the older spelling of the path to a report. */
export const ofReport =
  (name: (path: string) => string) =>
  (path: string): string =>
    name(path) + (path.endsWith('/report') ? '' : 'ByOlderPath');

/** The error of an unknown party. */
export const unknownIn = (path: string): ErrorCode =>
  path.startsWith('/api/idv/renters/') ? 'party.renter_unknown' : 'party.recipient_unknown';

/** The schemas of vendors' own answers, which are passed on. A vendor may send further fields. */
export const PASSED_ON = ['IdentityPayload', 'StandingPayload', 'KbaQuestionSet', 'KbaQuestion', 'PartyReportPayload'];
