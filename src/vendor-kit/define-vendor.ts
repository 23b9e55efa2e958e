// The description of a vendor, in the `vendor.ts` of its folder. The registry finds the description there.
import type { Capability } from '../kernel/vendor-choice.js';
import type { SettingsOf, SettingsSchema } from '../kernel/vendor-settings.js';
import type { CreditBureau } from '../ports/credit-bureau.js';
import type { IdentityVendor } from '../ports/identity-vendor.js';
import type { IncomeVendor } from '../ports/income-vendor.js';
import type { PaymentProcessor, ProcessorWebhookEvents } from '../ports/payment-processor.js';
import type { DeliverySemantics } from '../ports/vendor-call.js';
import type { ChargedCurrency } from '../ports/vendors.js';

export interface VendorPorts {
  readonly identity: IdentityVendor;
  readonly credit: CreditBureau;
  readonly income: IncomeVendor;
  readonly payment: PaymentProcessor;
}

export interface CapabilityOf<Port> {
  readonly operations: { readonly [Operation in keyof Port]: DeliverySemantics };
  /** The identity vendors whose sessions identify a person for this vendor. Only for `credit` and `income`. */
  readonly sessionsOf?: readonly string[];
  /** The currencies that can be charged, by their lowercase ISO 4217 codes. Only a `payment` vendor names them. */
  readonly currencies?: Readonly<Record<string, ChargedCurrency>>;
}

/** The adapters of one environment. `close` lets calls in progress end, each within its time limit. */
export type OpenVendor = { readonly [Name in Capability]?: VendorPorts[Name] } & { close(): Promise<void> };

export interface Vendor<Schema extends SettingsSchema = SettingsSchema> {
  /** The name of the vendor's folder. Events store this name, so it never changes. */
  readonly id: string;
  readonly capabilities: { readonly [Name in Capability]?: CapabilityOf<VendorPorts[Name]> };
  readonly settings: Schema;
  /** Called in processes that make calls. The function loads the adapters only then, because most operator commands call no vendor. */
  open(settings: SettingsOf<Schema>, timeoutMs: number): Promise<OpenVendor>;
  /** Reads the webhook events of a payment processor, from either environment. */
  webhookEvents?(settings: readonly SettingsOf<Schema>[]): Promise<ProcessorWebhookEvents>;
}

export function defineVendor<const Schema extends SettingsSchema>(vendor: Vendor<Schema>): Vendor {
  return vendor;
}
