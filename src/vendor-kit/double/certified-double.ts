// The description of a double for its certification: the roles of its requests, its personas, and the errors of the vendor.
import type { Applicant } from '../../kernel/applicant.js';
import type { UserActionOpening } from '../../kernel/user-action.js';
import type { IncomeRoute } from '../../ports/income-vendor.js';
import type { KbaQuestion } from '../../ports/identity-vendor.js';
import type { SandboxPart } from './sandbox-part.js';

/**
 * The purpose of a request. `token`: gets an access token. `submit`: begins something that may be billed. `verdict`: asks for the result of an
 * accepted request. `answer`: a person's answer. `outcome`: asks for the result of an earlier key. `report`: pulls a report. `processor`: makes,
 * changes or refunds a payment.
 */
export const ROLES = ['token', 'submit', 'verdict', 'answer', 'outcome', 'report', 'processor'] as const;
export type Role = (typeof ROLES)[number];

/** The facts of a verdict that a persona must get. Further facts of the verdict are not compared. */
export type ExpectedVerdict = { readonly kind: string; readonly [fact: string]: unknown };

/** A made-up person, and the vendor's verdict for each operation. */
export interface CertifiedPersona {
  /** The differences from the person of the certification. */
  readonly person?: Partial<Applicant>;
  readonly registration?: ExpectedVerdict;
  /** The verdict of a re-authentication after the registration has confirmed the person. */
  readonly reauthentication?: ExpectedVerdict;
  readonly report?: ExpectedVerdict;
  /** `reference`: the session of another vendor, by which this vendor knows the person. */
  readonly reference?: string;
  readonly income?: { readonly route: IncomeRoute; readonly verdict: ExpectedVerdict };
  readonly payment?: {
    /** The consumer's means of payment, in the words of `pay`; null for a consumer who does not pay. */
    readonly by: string | null;
    /** The verdicts after the consumer paid, or did not pay, an intent: of a look, and of a refund. */
    readonly intent: ExpectedVerdict;
    readonly refund: ExpectedVerdict;
    /** The verdicts for a checkout session: of a look, and of its end. */
    readonly checkout: ExpectedVerdict;
    readonly expiry: ExpectedVerdict;
  };
}

/** An error that the vendor documents. Without a `verdict`, only behaviour.json tells the verdict. */
export interface DocumentedError {
  /** The name of the port's operation. */
  readonly operation: string;
  readonly status: number;
  readonly body: object;
  readonly verdict?: ExpectedVerdict;
}

export interface RunningDouble {
  /** Mounted on a server of its own. */
  readonly part: SandboxPart;
  /** The settings of the vendor for the double at this address. Each value except addresses is also a canary. */
  readonly settings: (url: string) => Readonly<Record<string, string | null>>;
  /** The consumer pays the intent or the checkout session with this id. */
  readonly pay?: (id: string, by: string) => Promise<void>;
  /** The person or the charge as the double has understood the request with this key, in the port's words; null for an unknown key. */
  readonly understood?: (key: string) => Readonly<Record<string, unknown>> | null;
}

export interface CertifiedDouble {
  /**
   * Each request of the vendor by its method and path, such as `POST /v1/checks/*`. `*` stands for one part of the path, which is an id. If one path
   * has two uses, a third word tells a text of the body, such as `POST /v1/checks/* "resend"`.
   */
  readonly roles: { readonly [Name in Role]?: readonly string[] };
  readonly errors?: readonly DocumentedError[];
  /** The account that receives the money of charges. Without it, the platform keeps the money. */
  readonly connectedAccount?: string;
  readonly code?: { readonly right: string; readonly wrong: string };
  readonly answers?: (
    questions: readonly KbaQuestion[],
    right: boolean,
  ) => readonly { readonly questionId: number; readonly answerId: number }[];
  /** The person acts once at the opened vendor. `double`: its address. Needed for a persona whose verdict is `needs-user`. */
  readonly act?: (opening: UserActionOpening, double: string) => Promise<void>;
  /** The persons that the vendor itself knows in its test environment, for the smoke test. */
  readonly smoke?: readonly CertifiedPersona[];
  /** `folder`: an empty folder for the double's files. */
  start(folder: string): RunningDouble;
}
