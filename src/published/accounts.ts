import type { Environment } from '../kernel/environment.js';
import type { Terms } from '../kernel/terms.js';
import type { VendorChoice } from '../kernel/vendor-choice.js';

/** The kinds of users that an account may screen. */
export type UserType = 'CONSUMER' | 'AGENT' | 'PMC';

/** The facts about an account that other modules may know. */
export interface AccountFacts {
  readonly accountId: string;
  /** The name of a company. */
  readonly name: string;
  readonly parentId: string | null;
  /** Cents: the least that a consumer pays for one screening. */
  readonly feeCents: number;
  /** Lowercase ISO 4217. */
  readonly currency: string;
  /** Whether its consumers pay for their screening. */
  readonly consumerPays: boolean;
  /** Whether its live traffic may reach real vendors. */
  readonly provisionedForLive: boolean;
  /** The kinds of users that it may screen. */
  readonly products: readonly UserType[];
  /** Products of the identity vendor that its pages may name. */
  readonly productIds: readonly number[];
  /** The text that a person agrees to on its pages; null: the installation's text. */
  readonly terms: Terms | null;
  /** The version of each text of its own that it has ever had. */
  readonly termsVersions: readonly string[];
  /** A mail address, phone number or web address that its pages show to people who need help; null: none. */
  readonly supportContact: string | null;
  readonly brand: {
    /** The name that people see: the chosen one, or the account's name. */
    readonly displayName: string;
    /** A PNG in base64; null: none. */
    readonly logo: string | null;
    /** The https address of its privacy notice; null: none. */
    readonly privacyUrl: string | null;
  };
  /** The account at the payment processor that receives the money, if one is connected. */
  readonly connectedPaymentAccount: string | null;
  /**
   * Cents of each payment that the platform keeps (null: not fixed), and the most that it may keep (null: no bound).
   */
  readonly applicationFeeCents: number | null;
  readonly maxApplicationFeeCents: number | null;
  /** Days from the first refused pull of a report to the automatic refund of its payment; null: no automatic refund. */
  readonly refundAfterDays: number | null;
  /** Whether it pays by prepaid credit. */
  readonly prepaidBilling: boolean;
  /** Submissions a minute in each environment; null: the limit of the installation. */
  readonly submitsPerMinute: number | null;
  /** The vendors of its new sessions. */
  readonly vendors: VendorChoice;
}

/** The accounts module, for other modules. */
export abstract class Accounts {
  /** Null when the account does not exist. Settings may be up to a second old. */
  abstract find(accountId: string): Promise<AccountFacts | null>;

  /** True for live traffic of a provisioned account in production, and for test traffic where the test environment has vendors of its own. */
  abstract mayReachVendors(account: AccountFacts, environment: Environment): boolean;

  /** Whether the reader may see data of the owner on the server surface. An account may see its own data and that of its direct children. */
  abstract mayRead(readerId: string, ownerId: string): Promise<boolean>;
}
