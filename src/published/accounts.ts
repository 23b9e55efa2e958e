import type { Environment } from '../kernel/environment.js';
import type { Certification } from '../kernel/permissible-purpose.js';
import type { Terms } from '../kernel/terms.js';
import type { ChosenVendors } from '../kernel/vendor-choice.js';

/** The kinds of users that an account may screen. */
export const USER_TYPES = ['CONSUMER', 'AGENT', 'PMC'] as const;
export type UserType = (typeof USER_TYPES)[number];

/** The facts about an account that other modules may use. */
export interface AccountFacts {
  readonly accountId: string;
  /** The name of a company. */
  readonly name: string;
  readonly parentId: string | null;
  /** In cents: the lowest price of one screening for a consumer. */
  readonly feeCents: number;
  /** Lowercase ISO 4217. */
  readonly currency: string;
  /** Whether the account's consumers pay for their screening. */
  readonly consumerPays: boolean;
  /** Whether the account's live traffic may reach real vendors. */
  readonly provisionedForLive: boolean;
  /** The kinds of users that the account may screen. */
  readonly products: readonly UserType[];
  /** The products of the identity vendor that the account's pages may name. */
  readonly productIds: readonly number[];
  /** The text to which a person agrees on the account's pages; null if the installation's text applies. */
  readonly terms: Terms | null;
  /** The version of each text that the account has ever had. */
  readonly termsVersions: readonly string[];
  /** A mail address, phone number or web address that the account's pages show to people who need help; null if none exists. */
  readonly supportContact: string | null;
  readonly brand: {
    /** The name that people see: the chosen name, or else the account's name. */
    readonly displayName: string;
    /** A PNG or an SVG in base64; null without a logo. `logoUrl` makes its address. */
    readonly logo: string | null;
    /** The https address of the account's privacy notice; null if none exists. */
    readonly privacyUrl: string | null;
  };
  /** The account at the payment processor that receives the money, if one is connected. */
  readonly connectedPaymentAccount: string | null;
  /** The cents of each payment that the platform keeps (null: not fixed), and the largest part that it may keep (null: no limit). */
  readonly applicationFeeCents: number | null;
  readonly maxApplicationFeeCents: number | null;
  /** The days from the first refused pull of a report to the automatic refund of its payment; null if the account has no automatic refunds. */
  readonly refundAfterDays: number | null;
  /** Whether the account pays with prepaid credit. */
  readonly prepaidBilling: boolean;
  /** Whether every read of a report must name a certified purpose. */
  readonly purposeRequired: boolean;
  /** The newest certification, whose time may be over; null if the account has certified nothing. */
  readonly certification: Certification | null;
  /** Submissions a minute in each environment. With null, the limit of the installation applies. */
  readonly submitsPerMinute: number | null;
  /** The vendors that the account has chosen for its new sessions. */
  readonly vendors: ChosenVendors;
}

export interface ChildrenPage {
  /** `next` of the page before; null: the first page. */
  readonly after: string | null;
  readonly limit: number;
}

export interface Children {
  readonly ids: readonly string[];
  /** Null at the end. */
  readonly next: string | null;
}

/** The accounts module, for other modules. */
export abstract class Accounts {
  /** Null if the account does not exist. Settings may be up to a second old. */
  abstract find(accountId: string): Promise<AccountFacts | null>;

  /** True for live traffic of a provisioned account in production, and for test traffic when the test environment has vendors of its own. */
  abstract mayReachVendors(account: AccountFacts, environment: Environment): boolean;

  /** Whether the reader may see data of the owner on the server surface. An account may see its own data and the data of its direct children. */
  abstract mayRead(readerId: string, ownerId: string): Promise<boolean>;

  /** A page of the direct children of an account, by their ids. An account that was opened a moment ago may be missing. */
  abstract childrenOf(accountId: string, page: ChildrenPage): Promise<Children>;
}

/** The media type of a logo in base64, by its first bytes. */
export function logoType(logo: string): 'image/png' | 'image/svg+xml' {
  return logo.startsWith('PHN2Zy') ? 'image/svg+xml' : 'image/png';
}

/** The logo as a data: URL. Pages show it as an image only, where no script of an SVG runs and no address of it is asked. */
export function logoUrl(logo: string): string {
  return `data:${logoType(logo)};base64,${logo}`;
}
