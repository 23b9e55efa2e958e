// How often persons may be submitted, phones be sent a code, and a client answer wrong (docs/contract/general.md#limits-against-abuse).
import { Injectable } from '@nestjs/common';
import type { Owner } from '../../../kernel/context.js';
import type { Environment } from '../../../kernel/environment.js';
import { keyedId } from '../../../kernel/ids.js';
import { RateLimiter, type RateUse } from '../../../ports/rate-limiter.js';
import { Vault } from '../../../ports/vault.js';
import type { AccountFacts } from '../../../published/accounts.js';
import { ScreeningPolicy } from './screening-policy.js';

interface Submission {
  readonly account: AccountFacts;
  readonly environment: Environment;
  /** Every name by which the person is known, so that another spelling is no other person. */
  readonly persons: readonly string[];
  /** Null for a server, whose address says nothing about who is screened. */
  readonly clientAddress: string | null;
  readonly lineage: string | undefined;
  /** Null without a session grant. */
  readonly grantId: string | null;
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

  /** What one more submission uses, besides the code that the phone may be sent. */
  submission({ account, environment, persons, clientAddress, lineage, grantId }: Submission): readonly RateUse[] {
    const { submitsPerMinutePerAddress, submitsPerMinute, submitsPerHourPerPerson } = this.policy.limits;
    const { accountId } = account;
    const perPerson = persons.map((name) => ({
      key: `person-submits:${name}`,
      limit: submitsPerHourPerPerson,
      windowSeconds: HOUR,
    }));
    const ofAccount = { limit: account.submitsPerMinute ?? submitsPerMinute, windowSeconds: MINUTE };
    // Strangers fill no window of the account's servers, nor do they meet one of its session grants.
    if (clientAddress === null)
      return [...perPerson, { ...ofAccount, key: `server-submits:${accountId}:${environment}` }];
    const perAddress = {
      key: `address-submits:${accountId}:${clientAddress}`,
      limit: submitsPerMinutePerAddress,
      windowSeconds: MINUTE,
    };
    if (grantId !== null) return [...perPerson, perAddress];
    const callers = [clientAddress, ...(lineage === undefined ? [] : [lineage])];
    return [...perPerson, perAddress, { ...ofAccount, key: `submits:${accountId}:${environment}`, callers }];
  }

  /**
   * What one more code uses: of the account first, so that one account does not use up what a phone may be sent by others. Test
   * traffic must not use up what a real applicant's phone may be sent either.
   */
  smsTo({ accountId, environment }: Owner, phoneId: string): readonly RateUse[] {
    const { smsPerHour, smsPerDay } = this.policy.limits;
    const rule = 'Too many codes were sent to this phone number. Try again later, or with another number.';
    return [
      { key: `hourly-sms:${accountId}:${environment}:${phoneId}`, limit: smsPerHour, windowSeconds: HOUR, rule },
      { key: `daily-sms:${environment}:${phoneId}`, limit: smsPerDay, windowSeconds: DAY, rule },
    ];
  }

  /**
   * The use that one more wrong answer makes of a client's limit, over all accounts and persons. It is counted before the answer is
   * judged, and given back when the answer was not wrong. Servers are not counted; the persons they ask about are.
   */
  wrongAnswer(environment: Environment | null, clientAddress: string | null): readonly RateUse[] {
    if (clientAddress === null) return [];
    const { wrongAnswersPerHourPerAddress: limit } = this.policy.limits;
    return [{ key: `wrong-answers:${environment}:${clientAddress}`, limit, windowSeconds: HOUR }];
  }

  /** Counts them all, or refuses the caller and counts none. */
  admit(uses: readonly RateUse[]): Promise<void> {
    return this.limiter.admit(uses);
  }

  /** Uncounts what was not used after all, such as the code of a call that has sent none. */
  giveBack(uses: readonly RateUse[]): Promise<void> {
    return this.limiter.giveBack(uses);
  }

  /** Called before the vendor is asked. The process that records the attempt's end gives back. A window of a minute is not set aside. */
  setAside(attemptId: string, uses: readonly RateUse[]): Promise<void> {
    return this.limiter.setAside(
      attemptId,
      uses.filter(({ windowSeconds }) => windowSeconds > MINUTE),
    );
  }

  /** The end of the attempt is known. What was set aside may have been given back already. */
  async settle(attemptId: string, unused: readonly RateUse[]): Promise<void> {
    const isThere = await this.limiter.forgetSetAside(attemptId);
    await this.giveBack(unused.filter(({ windowSeconds }) => isThere || windowSeconds <= MINUTE));
  }

  /** The vendor has not executed the attempt. */
  giveBackSetAside(attemptId: string): Promise<void> {
    return this.limiter.giveBackSetAside(attemptId);
  }
}
