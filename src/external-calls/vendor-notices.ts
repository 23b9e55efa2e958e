import { isId } from '../kernel/ids.js';
import type { Clock } from '../kernel/clock.js';
import { DomainError } from '../kernel/domain-error.js';
import { FIRST_VENDORS } from '../kernel/vendor-choice.js';
import { InternalRoute, type InternalRequest } from '../platform/http/internal-listener.js';
import type { AttemptNotice, PaymentNotices, VendorNotices } from '../ports/vendor-notices.js';
import type { AttemptRecovery } from './attempt-recovery.js';
import { CAPABILITY_OF } from './external-call.js';
import type { ExternalCalls } from './external-calls.js';

/** The address of all vendors' notices, and the older address for the first payment processor (docs/contract/platform.md#processor-events). */
export class VendorNoticesRoute extends InternalRoute {
  override readonly paths = ['/internal/vendors/:vendor/events', '/internal/processor/events'];

  constructor(
    private readonly notices: VendorNotices,
    private readonly clock: Pick<Clock, 'now'>,
    private readonly calls: ExternalCalls,
    /** Found when a notice arrives, because modules provide them. */
    private readonly find: {
      readonly recoveries: () => readonly AttemptRecovery[];
      readonly payments: () => PaymentNotices;
    },
  ) {
    super();
  }

  /** A notice about an aggregate that this vendor has not been asked about changes nothing. */
  override async receive({ params, body, headers, requestId }: InternalRequest): Promise<void> {
    const { vendor = FIRST_VENDORS.payment } = params;
    const read = this.notices.readerOf(vendor);
    if (read === null) throw new DomainError('request.unknown_path');
    const notice = read({ body, headers, now: this.clock.now() });
    if (notice === null) throw new DomainError('request.invalid');
    if (notice.capability === 'payment') await this.find.payments().receive(notice, vendor, requestId);
    else if (isId(notice.aggregateId)) await this.settle(notice, vendor);
  }

  private async settle(
    { capability, eventId, environment, aggregateId: id }: AttemptNotice,
    vendor: string,
  ): Promise<void> {
    for (const recovery of this.find.recoveries()) {
      if (CAPABILITY_OF[recovery.vendor] !== capability) continue;
      const asked = await recovery.askedFor(id);
      if (asked?.environment !== environment || (asked.vendor ?? FIRST_VENDORS[capability]) !== vendor) continue;
      await this.calls.settle(recovery, environment, { id, vendor, eventId });
    }
  }
}
