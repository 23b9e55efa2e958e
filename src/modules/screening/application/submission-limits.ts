// How often persons may be submitted, and phones be sent a code (docs/contract/general.md#limits-against-abuse).
import { Injectable } from '@nestjs/common';
import type { Environment } from '../../../kernel/environment.js';
import { keyedId } from '../../../kernel/ids.js';
import type { RegistrationVerdict, ResendVerdict } from '../../../ports/identity-vendor.js';
import { RateLimiter, type RateUse } from '../../../ports/rate-limiter.js';
import { Vault } from '../../../ports/vault.js';
import type { AccountFacts } from '../../../published/accounts.js';
import { ScreeningPolicy } from './screening-policy.js';

interface Submission {
  readonly account: AccountFacts;
  readonly environment: Environment;
  readonly personId: string;
  readonly phoneId: string;
  /** Null for a server, whose address says nothing about who is screened. */
  readonly clientAddress: string | null;
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/**
 * Whether a code is sent is known after the vendor was asked, and whether one may be sent has to be known before. So a code is
 * counted ahead, and uncounted when none was sent: of many submissions at once, no more are with the vendor than may send one.
 */
@Injectable()
export class SubmissionLimits {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly vault: Vault,
    private readonly policy: ScreeningPolicy,
  ) {}

  /** Names a phone, over all accounts; says nothing without the key. */
  async phoneId(phoneNumber: string): Promise<string> {
    return keyedId(await this.vault.installationKey('person'), 'phone', phoneNumber);
  }

  /** Counts a submission that is well-formed and admitted, and runs it. `smsSent` is asked when it is over. */
  async submission<Result>(
    { account, environment, personId, phoneId, clientAddress }: Submission,
    run: () => Promise<Result>,
    smsSent: () => boolean,
  ): Promise<Result> {
    const { submitsPerMinutePerAddress, submitsPerMinute, submitsPerHourPerPerson } = this.policy.limits;
    const { accountId } = account;
    const uses = [
      {
        key: `submits:${accountId}:${environment}`,
        limit: account.submitsPerMinute ?? submitsPerMinute,
        windowSeconds: MINUTE,
      },
      { key: `person-submits:${personId}`, limit: submitsPerHourPerPerson, windowSeconds: HOUR },
    ];
    if (clientAddress !== null)
      uses.push({
        key: `address-submits:${accountId}:${clientAddress}`,
        limit: submitsPerMinutePerAddress,
        windowSeconds: MINUTE,
      });
    return this.counted(uses, environment, phoneId, run, smsSent);
  }

  /** Counts one more code to that phone, and runs what sends it. */
  resend<Result>(
    environment: Environment,
    phoneId: string,
    run: () => Promise<Result>,
    smsSent: () => boolean,
  ): Promise<Result> {
    return this.counted([], environment, phoneId, run, smsSent);
  }

  private async counted<Result>(
    uses: readonly RateUse[],
    environment: Environment,
    phoneId: string,
    run: () => Promise<Result>,
    smsSent: () => boolean,
  ): Promise<Result> {
    const { smsPerHour, smsPerDay } = this.policy.limits;
    // Over all accounts, but test traffic must not use up what a real applicant's phone may be sent.
    const sms = [
      { key: `hourly-sms:${environment}:${phoneId}`, limit: smsPerHour, windowSeconds: HOUR },
      { key: `daily-sms:${environment}:${phoneId}`, limit: smsPerDay, windowSeconds: DAY },
    ];
    await this.limiter.admit([...uses, ...sms]);
    try {
      return await run();
    } finally {
      if (!smsSent()) await this.limiter.giveBack(sms);
    }
  }
}

/** Also where nobody knows: the vendor may have executed the call. */
export function mayHaveSentSms(verdict: RegistrationVerdict | ResendVerdict): boolean {
  if (verdict.kind === 'step-up') return verdict.otp;
  return verdict.kind === 'sent' || verdict.kind === 'timed-out' || verdict.kind === 'unintelligible';
}
