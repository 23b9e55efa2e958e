// The description of a vendor, in the `vendor.ts` of its folder. The registry finds the description there.
import type { Capability } from '../kernel/vendor-choice.js';
import type { SettingsOf, SettingsSchema } from '../kernel/vendor-settings.js';
import type { CreditBureau } from '../ports/credit-bureau.js';
import type { IdentityVendor } from '../ports/identity-vendor.js';
import type { IncomeRoute, IncomeVendor } from '../ports/income-vendor.js';
import type { PaymentProcessor } from '../ports/payment-processor.js';
import type { DeliverySemantics } from '../ports/vendor-call.js';
import type { NoticeReader } from '../ports/vendor-notices.js';
import type { ChargedCurrency, VendorLimits } from '../ports/vendors.js';

export interface VendorPorts {
  readonly identity: IdentityVendor;
  readonly credit: CreditBureau;
  readonly income: IncomeVendor;
  readonly payment: PaymentProcessor;
}

export interface CapabilityOf<Port> {
  readonly operations: { readonly [Operation in keyof Port]: DeliverySemantics };
}

/** The operations that a port has a default for, so that a vendor need not have them. */
export const OPTIONAL_OPERATIONS = {
  identity: ['verifyOtp', 'resendOtp', 'verifyKba', 'reauthenticate', 'authenticationStatus', 'expireAuthentication'],
  credit: [],
  income: [],
  payment: [],
} as const satisfies { readonly [Name in Capability]: readonly (keyof VendorPorts[Name])[] };

type Optional = (typeof OPTIONAL_OPERATIONS)['identity'][number];

export interface IdentityCapability extends Omit<CapabilityOf<IdentityVendor>, 'operations'> {
  /** The operations that the vendor has. A default answers all others. */
  readonly operations: Partial<Pick<CapabilityOf<IdentityVendor>['operations'], Optional>> &
    Omit<CapabilityOf<IdentityVendor>['operations'], Optional>;
  /** The methods with which the vendor can challenge a person. */
  readonly stepUp: readonly ('otp' | 'kba')[];
  /**
   * The vendor's memory of earlier calls. `remembers`: it tells the outcome of a call. `closes-keys`: it also never executes a call after it has
   * told that the call was not executed. `none`: it has no such query.
   */
  readonly outcomes: 'remembers' | 'closes-keys' | 'none';
  /** People at the vendor decide about some persons (`under-review`). */
  readonly humanReview?: true;
  /** `direct-dialect`: the vendor's answers have the documented form of the direct API, which passes them on unchanged. */
  readonly speaks?: 'direct-dialect';
}

/** How a vendor knows the person: by a session of an identity vendor, named by its id, or by the person's own data. */
export type Needs = 'applicant' | readonly `session-of:${string}`[];

export interface PersonCapability<Port> extends CapabilityOf<Port> {
  readonly needs: Needs;
}

export interface CreditCapability extends PersonCapability<CreditBureau>, Pick<IdentityCapability, 'speaks'> {}

export interface IncomeCapability extends PersonCapability<IncomeVendor> {
  /** The routes by which the vendor verifies income; both if the field is absent. */
  readonly routes?: readonly IncomeRoute[];
}

export interface PaymentCapability extends CapabilityOf<PaymentProcessor> {
  /** The currencies that can be charged, by their lowercase ISO 4217 codes. */
  readonly currencies: Readonly<Record<string, ChargedCurrency>>;
}

export interface Capabilities {
  readonly identity?: IdentityCapability;
  readonly credit?: CreditCapability;
  readonly income?: IncomeCapability;
  readonly payment?: PaymentCapability;
}

/** The adapters of one environment. `close` lets calls in progress end, each within its time limit. */
export type OpenVendor = { readonly [Name in Capability]?: VendorPorts[Name] } & { close(): Promise<void> };

export interface Vendor<Schema extends SettingsSchema = SettingsSchema> {
  /** The name of the vendor's folder. Events store this name, so it never changes. */
  readonly id: string;
  /** The introduction of the folder's README.md, in Markdown. */
  readonly about?: string;
  /** Set for a further instance of a folder's contract (VENDOR_INSTANCES). */
  readonly folder?: string;
  readonly capabilities: Capabilities;
  readonly settings: Schema;
  readonly limits?: VendorLimits;
  /**
   * JSON pointers to the texts about a person in the bodies of requests and answers, such as `/person/ssn`. `*` stands for each entry of a list. A
   * pointer includes everything below its place. A field of a form has a pointer of one part. Recordings do not keep these texts, and the
   * certification searches for them outside.
   */
  readonly personal?: readonly string[];
  /** Called in processes that make calls. The function loads the adapters only then, because most operator commands call no vendor. */
  open(settings: SettingsOf<Schema>, timeoutMs: number): Promise<OpenVendor>;
  /** Reads the vendor's notices of one environment, which arrive at `/internal/vendors/<id>/events`. */
  notices?(settings: SettingsOf<Schema>): Promise<NoticeReader>;
}

export function defineVendor<const Schema extends SettingsSchema>(vendor: Vendor<Schema>): Vendor {
  return vendor;
}
