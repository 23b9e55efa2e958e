// All operations of a vendor that its certification runs.
import type { Capability } from '../../kernel/vendor-choice.js';
import type { Vendor } from '../define-vendor.js';
import type { CertifiedDouble, CertifiedPersona, RunningDouble } from '../double/certified-double.js';
import { type Operation, personOperations } from './operations.js';
import { paymentOperations } from './payment-operations.js';

export function operationsOf(
  vendor: Vendor,
  double: CertifiedDouble,
  personas: readonly CertifiedPersona[],
  pay?: RunningDouble['pay'],
): readonly Operation[] {
  const ofPersons = personOperations(vendor, double, personas);
  const ofPayments = paymentOperations(vendor.capabilities.payment, double, personas, pay);
  return [...ofPersons, ...ofPayments].filter(({ capability, method }) => isDeclared(vendor, capability, method));
}

/** A default answers the operations that the vendor does not declare. */
export function isDeclared({ capabilities }: Vendor, capability: Capability, method: string): boolean {
  return method in (capabilities[capability]?.operations ?? {});
}
