import type { EndUserType } from './end-user-type.js';

/** The reasons for which the law permits an inquiry about a person, and a read of the report. */
export const PERMISSIBLE_PURPOSES = ['TENANT_SCREENING', 'LEASE_RENEWAL'] as const;
export type PermissiblePurpose = (typeof PERMISSIBLE_PURPOSES)[number];

/** The purpose of reads for which no caller has named one. */
export const DEFAULT_PURPOSE: PermissiblePurpose = 'TENANT_SCREENING';

/** The purpose and the kind of end user that a read, a session or a grant names. Null: it names none. */
export interface NamedPurpose {
  readonly purpose: PermissiblePurpose | null;
  readonly endUserType: EndUserType | null;
}

/** The purpose under which a report is read, as the log records it. */
export interface ReadPurpose {
  readonly purpose: PermissiblePurpose;
  /** Absent if neither the read nor the session names one. */
  readonly endUserType?: EndUserType;
}

/** The purposes that an account has certified, and the text that it has signed. */
export interface Certification {
  readonly purposes: readonly [PermissiblePurpose, ...PermissiblePurpose[]];
  /** The kinds of end users for which the account reads reports. Absent: any, and a read need not name one. */
  readonly endUserTypes?: readonly [EndUserType, ...EndUserType[]];
  /** The id, not the name, by which the account knows the signer. */
  readonly by: string;
  /** SHA-256 of the signed text, in lowercase hex. */
  readonly textDigest: string;
  /** ISO 8601 UTC. */
  readonly until: string;
}
