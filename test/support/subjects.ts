// Subjects of reports and income inquiries, as a session gives them to a vendor.
import type { KnownPerson, VendorSubject } from '../../src/kernel/vendor-subject.js';

export function subjectWith(person: KnownPerson): VendorSubject {
  const consent = { acceptedAt: '2026-03-01T11:00:00.000Z', termsVersion: null };
  return { person, purpose: 'TENANT_SCREENING', endUserType: null, askedBy: 'account', consent };
}

/** The vendor knows this person by the identity vendor's token. */
export function ofSession(token: string): VendorSubject {
  return subjectWith({ kind: 'session', token });
}
