// Limits the submissions of a person, the codes to a phone, and the wrong answers of a client (docs/contract/general.md#limits-against-abuse).
import { Injectable } from '@nestjs/common';
import type { Owner } from '../../../kernel/context.js';
import type { Environment } from '../../../kernel/environment.js';
import { keyedId } from '../../../kernel/ids.js';
import { limitRule, RateLimiter, type RateUse } from '../../../ports/rate-limiter.js';
import { Vault } from '../../../ports/vault.js';
import type { AccountFacts } from '../../../published/accounts.js';
import { ScreeningPolicy } from './screening-policy.js';

interface Submission {
  readonly account: AccountFacts;
  readonly environment: Environment;
  /** All names of the person, so that another spelling still counts for the same person. */
  readonly persons: readonly string[];
  /** Null for a server, because the server's address does not identify the person. */
  readonly clientAddress: string | null;
  readonly lineage: string | undefined;
  /** Null if no session grant exists. */
  readonly grantId: string | null;
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/**
 * The limit must be checked before the call, but only the call shows whether the vendor sends a code. A code is therefore counted in advance, and the
 * use is returned when no code was sent. Many simultaneous submissions cannot send more codes than the limit allows.
 */
@Injectable()
export class SubmissionLimits {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly vault: Vault,
    private readonly policy: ScreeningPolicy,
  ) {}

  /** A name for a phone over all accounts. The name reveals nothing without the key. */
  async phoneId(phoneNumber: string): Promise<string> {
    return keyedId(await this.vault.installationKey('person'), 'phone', phoneNumber);
  }

  /** The uses of one more submission, without the uses of a code that the vendor may send. */
  submission({ account, environment, persons, clientAddress, lineage, grantId }: Submission): readonly RateUse[] {
    const { submitsPerMinutePerAddress, submitsPerMinute, submitsPerHourPerPerson } = this.policy.limits;
    const { accountId } = account;
    const perPerson = persons.map((name) => ({
      key: `person-submits:${name}`,
      limit: submitsPerHourPerPerson,
      windowSeconds: HOUR,
      rule: limitRule(submitsPerHourPerPerson, 'submissions of one person', HOUR, 'SUBMITS_PER_HOUR_PER_PERSON'),
    }));
    const limit = account.submitsPerMinute ?? submitsPerMinute;
    const rule = limitRule(limit, 'submissions to one account', MINUTE, 'SUBMITS_PER_MINUTE');
    const ofAccount = { limit, windowSeconds: MINUTE, rule };
    // Browsers have rate windows of their own, so that strangers cannot use up the windows of the account's servers and session grants.
    if (clientAddress === null)
      return [...perPerson, { ...ofAccount, key: `server-submits:${accountId}:${environment}` }];
    const perAddress = {
      key: `address-submits:${accountId}:${clientAddress}`,
      limit: submitsPerMinutePerAddress,
      windowSeconds: MINUTE,
      rule: limitRule(
        submitsPerMinutePerAddress,
        'submissions from one client address',
        MINUTE,
        'SUBMITS_PER_MINUTE_PER_ADDRESS',
      ),
    };
    if (grantId !== null) return [...perPerson, perAddress];
    const callers = [clientAddress, ...(lineage === undefined ? [] : [lineage])];
    return [...perPerson, perAddress, { ...ofAccount, key: `submits:${accountId}:${environment}`, callers }];
  }

  /**
   * The uses of one more code. The account's own limit is first, so that one account cannot use up the codes of a phone for all others. Test traffic
   * has windows of its own, so that it cannot use up the codes of a real applicant's phone.
   */
  smsTo({ accountId, environment }: Owner, phoneId: string): readonly RateUse[] {
    const { smsPerHour, smsPerDay } = this.policy.limits;
    const rule = (limit: string): string =>
      `Too many codes were sent to this phone number: the limit is ${limit}. Another number has codes of its own.`;
    return [
      {
        key: `hourly-sms:${accountId}:${environment}:${phoneId}`,
        limit: smsPerHour,
        windowSeconds: HOUR,
        rule: rule(`${smsPerHour} an hour (SMS_PER_HOUR)`),
      },
      {
        key: `daily-sms:${environment}:${phoneId}`,
        limit: smsPerDay,
        windowSeconds: DAY,
        rule: rule(`${smsPerDay} a day (SMS_PER_DAY)`),
      },
    ];
  }

  /**
   * The uses of one more wrong answer of a client, over all accounts and persons. These uses are counted before the answer is judged, and returned
   * when it was not wrong. Servers have no such count, because the count of the person limits them.
   */
  wrongAnswer(environment: Environment | null, clientAddress: string | null): readonly RateUse[] {
    if (clientAddress === null) return [];
    const { wrongAnswersPerHourPerAddress: limit } = this.policy.limits;
    const variable = 'WRONG_ANSWERS_PER_HOUR_PER_ADDRESS';
    const rule = limitRule(limit, 'wrong codes and answers from one client address', HOUR, variable);
    return [{ key: `wrong-answers:${environment}:${clientAddress}`, limit, windowSeconds: HOUR, rule }];
  }

  /** Counts all uses, or refuses the caller and counts none of them. */
  admit(uses: readonly RateUse[]): Promise<void> {
    return this.limiter.admit(uses);
  }

  /** Returns uses that were not needed, such as the use of a code that was not sent. */
  giveBack(uses: readonly RateUse[]): Promise<void> {
    return this.limiter.giveBack(uses);
  }

  /**
   * Called before the vendor is called. The process that records the end of the attempt returns unneeded uses, except uses of windows of one minute.
   */
  setAside(attemptId: string, uses: readonly RateUse[]): Promise<void> {
    return this.limiter.setAside(
      attemptId,
      uses.filter(({ windowSeconds }) => windowSeconds > MINUTE),
    );
  }

  /** Called when the end of the attempt is known. Another process may have returned the uses already. */
  async settle(attemptId: string, unused: readonly RateUse[]): Promise<void> {
    const isThere = await this.limiter.forgetSetAside(attemptId);
    await this.giveBack(unused.filter(({ windowSeconds }) => isThere || windowSeconds <= MINUTE));
  }

  /** Called when the vendor has not executed the attempt. */
  giveBackSetAside(attemptId: string): Promise<void> {
    return this.limiter.giveBackSetAside(attemptId);
  }
}
