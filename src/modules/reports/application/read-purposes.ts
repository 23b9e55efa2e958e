import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { NamedPurpose, ReadPurpose } from '../../../kernel/permissible-purpose.js';
import { Accounts } from '../../../published/accounts.js';
import { purposeOfRead } from '../../../published/purposes.js';
import { Screenings } from '../../../published/screenings.js';
import { SessionGrants } from '../../../published/session-grants.js';

const NONE: NamedPurpose = { purpose: null, endUserType: null };

/** The purpose under which a caller reads a report (docs/contract/general.md#purposes). */
@Injectable()
export class ReadPurposes {
  constructor(
    private readonly accounts: Accounts,
    private readonly grants: SessionGrants,
    private readonly screenings: Screenings,
    private readonly clock: Clock,
  ) {}

  /** Throws if the caller's account must certify its purposes, and has not certified this one. */
  async of(session: NamedPurpose, context: CallerContext): Promise<ReadPurpose> {
    const account = await this.accounts.find(context.accountId);
    if (account === null) throw new DomainError('request.unauthenticated');
    const named = [session, await this.ofGrant(context), context.named ?? NONE];
    return purposeOfRead(account, named, await this.clock.of(context));
  }

  /** As `of`, for a session that the caller knows by its id only. */
  async ofSession(sessionId: string, context: CallerContext): Promise<ReadPurpose> {
    return this.of((await this.screenings.find(sessionId)) ?? NONE, context);
  }

  private async ofGrant({ grantId }: CallerContext): Promise<NamedPurpose> {
    const grant = grantId === undefined ? null : await this.grants.find(grantId);
    if (grant === null) return NONE;
    const { purpose, endUserType } = grant;
    return { purpose, endUserType: endUserType === 'OTHER' ? null : endUserType };
  }
}
