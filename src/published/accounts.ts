import type { Environment } from '../kernel/environment.js';
import type { Terms } from '../kernel/terms.js';
import type { VendorChoice } from '../kernel/vendor-choice.js';

/** Kinds of users an account may screen. */
export type UserType = 'CONSUMER' | 'AGENT' | 'PMC';

/** What other modules may know of an account. */
export interface AccountFacts {
  readonly accountId: string;
  /** The name of a company. */
  readonly name: string;
  readonly parentId: string | null;
  /** Cents; what a consumer pays at least for one screening. */
  readonly feeCents: number;
  /** Lowercase ISO 4217. */
  readonly currency: string;
  /** Whether its consumers pay for their screening. */
  readonly consumerPays: boolean;
  /** Whether its live traffic may reach real vendors. */
  readonly provisionedForLive: boolean;
  /** Kinds of users it may screen. */
  readonly products: readonly UserType[];
  /** Products of the identity vendor that its pages may name. */
  readonly productIds: readonly number[];
  /** What a person agrees to on its pages; null: the installation's text. */
  readonly terms: Terms | null;
  /** Versions of every text of its own that it has had. */
  readonly termsVersions: readonly string[];
  /** Where a person asks for help on its pages: a mail address, a phone number or a web address; null: nothing is said. */
  readonly supportContact: string | null;
  /** Account at the payment processor that receives the money, if connected. */
  readonly connectedPaymentAccount: string | null;
  /** Cents that the platform keeps of each payment, and the most that it may; null: not fixed, not bounded. */
  readonly applicationFeeCents: number | null;
  readonly maxApplicationFeeCents: number | null;
  /** Days from the first refused pull of a report to the refund of its payment; null: nothing is given back by itself. */
  readonly refundAfterDays: number | null;
  /** Whether it pays by prepaid credit. */
  readonly prepaidBilling: boolean;
  /** Submissions a minute in each environment; null: the installation's number. */
  readonly submitsPerMinute: number | null;
  /** Where its new sessions go. */
  readonly vendors: VendorChoice;
}

/** The accounts module as others see it. */
export abstract class Accounts {
  /** Null when there is no such account. Settings may be up to a second old. */
  abstract find(accountId: string): Promise<AccountFacts | null>;

  /** True for live traffic of a provisioned account in production, and for test traffic wherever the test environment has vendors of its own. */
  abstract mayReachVendors(account: AccountFacts, environment: Environment): boolean;

  /** Whether the reader may see what belongs to the owner on the server surface: its own, or a direct child's. */
  abstract mayRead(readerId: string, ownerId: string): Promise<boolean>;
}
