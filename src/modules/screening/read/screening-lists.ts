import { Injectable } from '@nestjs/common';
import { ENVIRONMENTS, type Environment } from '../../../kernel/environment.js';
import { listOf } from '../../../kernel/projection.js';
import { ListProgress, readPart, type ListPart } from '../../../ports/list-part.js';
import { ReadModels, type Page } from '../../../ports/read-models.js';
import { Vault } from '../../../ports/vault.js';
import { EXTERNAL_ID_KEY, externalIdHash } from '../../../published/external-ids.js';
import type { OverallStatus } from '../domain/overall-status.js';
import type { Session } from '../domain/session.js';
import { screeningStatus, type ScreeningStatus } from './screening-status.js';

/** The status of the verification that goes with each overall status. A verified session always has one of the last three. */
const VERIFICATION = {
  SUBMITTED: 'SUBMITTED',
  STEP_UP_REQUIRED: 'STEP_UP_REQUIRED',
  OTP_PENDING: 'OTP_PENDING',
  KBA_PENDING: 'KBA_PENDING',
  BLOCKED: 'BLOCKED',
  EXPIRED: 'EXPIRED',
  ERROR: 'ERROR',
  COMPLETED: 'VERIFIED',
  PAYMENT_PENDING: 'VERIFIED',
  PAYMENT_FAILED: 'VERIFIED',
} as const satisfies Record<Exclude<OverallStatus, 'VERIFIED'>, Session['status']>;

export type ListedOverallStatus = keyof typeof VERIFICATION;
export const OVERALL_STATUSES = Object.keys(VERIFICATION) as readonly ListedOverallStatus[];
export const SESSION_STATUSES: readonly Session['status'][] = [...new Set(Object.values(VERIFICATION))];
export const USER_TYPES = ['CONSUMER', 'AGENT', 'PMC'] as const satisfies readonly Session['userType'][];

interface CommonFilter {
  /** Undefined stands for both environments. */
  readonly environment?: Environment | undefined;
  readonly status?: Session['status'] | undefined;
  readonly overallStatus?: OverallStatus | undefined;
}

/** The filters of a list of sessions. A listed entry meets all filters that are given. */
export type ScreeningFilter = CommonFilter &
  (
    | { readonly account?: undefined; readonly userType?: undefined; readonly externalId?: undefined }
    | {
        readonly account: string;
        readonly userType?: Session['userType'] | undefined;
        /** The integrator's own id of the session (`external_id` of its grant). */
        readonly externalId?: string | undefined;
      }
  );

/** Lists of screening sessions, for list routes and operator commands. */
@Injectable()
export class ScreeningLists {
  constructor(
    private readonly readModels: ReadModels,
    private readonly progress: ListProgress,
    private readonly vault: Vault,
  ) {}

  /** Sessions by the time of their submission, the newest first. */
  async page(filter: ScreeningFilter, part: ListPart): Promise<Page<ScreeningStatus>> {
    if (part.after === null) await this.progress.caughtUp(screeningStatus);
    const lists = await this.listsOf(filter);
    const listed = { projection: screeningStatus, lists, sortOf: ({ createdAt }: ScreeningStatus) => createdAt };
    return readPart(this.readModels, listed, part);
  }

  private async listsOf(filter: ScreeningFilter): Promise<string[]> {
    const { account, environment: asked, userType } = filter;
    const lists = (asked === undefined ? ENVIRONMENTS : [asked]).map(async (environment) => {
      const externalIdHash = await this.externalIdIn(environment, filter);
      return overallStatusesOf(filter).map((overallStatus) =>
        listOf({ account, environment, externalIdHash, userType, overallStatus }),
      );
    });
    return (await Promise.all(lists)).flat();
  }

  /** The hash of the external id, if the filter has one. */
  private async externalIdIn(environment: Environment, filter: ScreeningFilter): Promise<string | undefined> {
    const { account, externalId } = filter;
    if (account === undefined || externalId === undefined) return undefined;
    const key = await this.vault.installationKey(EXTERNAL_ID_KEY);
    return externalIdHash(key, { accountId: account, environment }, externalId);
  }
}

/** `[undefined]` if no status is among the filters. */
function overallStatusesOf({ status, overallStatus }: CommonFilter): readonly (OverallStatus | undefined)[] {
  if (status === undefined) return [overallStatus];
  return OVERALL_STATUSES.filter((one) => VERIFICATION[one] === status && (overallStatus ?? one) === one);
}
