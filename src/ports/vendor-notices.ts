// Notices from vendors to the internal listener. A notice only names an object: the service asks the vendor about the object.
import type { Environment } from '../kernel/environment.js';
import type { Capability } from '../kernel/vendor-choice.js';
import type { ProcessorWebhookEvent } from './payment-processor.js';

/** The request of a vendor, as it was received. Signatures are computed over the bytes. Header names are lowercase. */
export interface NoticeRequest {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly now: Date;
}

/** The vendor knows more about an attempt than before, such as the decision of a person. */
export interface AttemptNotice {
  readonly capability: Exclude<Capability, 'payment'>;
  /** The vendor's id of the notice. */
  readonly eventId: string;
  readonly environment: Environment;
  /** `VendorCall.aggregateId`, which the adapter has sent as its reference. */
  readonly aggregateId: string;
}

export interface PaymentNotice extends ProcessorWebhookEvent {
  readonly capability: 'payment';
}

export type VendorNotice = AttemptNotice | PaymentNotice;

/** Verifies and reads a request. Pure. Null for a missing, forged or outdated signature, and for a body that is not a notice. Never throws. */
export type NoticeReader = (request: NoticeRequest) => VendorNotice | null;

/** The readers of this installation. The vendor registry implements this port. */
export abstract class VendorNotices {
  /** Null if the vendor sends no notices, or is not set up in any environment. */
  abstract readerOf(vendor: string): NoticeReader | null;
}

/** Follows the notices of payment processors. The payments module implements this port. */
export abstract class PaymentNotices {
  abstract receive(notice: PaymentNotice, vendor: string, requestId: string): Promise<void>;
}
