import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { PartyFacts } from '../../../published/parties.js';
import { idOfShare, isOver, share, shareIdOf, type ActiveShare } from '../domain/share.js';

/** The links of a renter's reports to one agent or organization: one share per session whose report was linked. */
@Injectable()
export class ReportLinks {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly clock: Clock,
  ) {}

  /** The newest link whose window is open; `over` when all windows have closed. Read from the streams, so that an unlink counts at once. */
  async newest(renter: PartyFacts, recipient: PartyFacts): Promise<ActiveShare | 'over' | null> {
    const links = await this.between(renter, recipient);
    const now = this.clock.now();
    return links.findLast((link) => !isOver(link, now)) ?? (links.length > 0 ? 'over' : null);
  }

  /** Safe to repeat. */
  async revoke(renter: PartyFacts, recipient: PartyFacts, context: CallerContext): Promise<void> {
    for (const link of await this.between(renter, recipient)) {
      await this.aggregates.execute(share, idOfShare(link), { kind: 'revoke', now: this.clock.now() }, context);
    }
  }

  /** The links in the order of the sessions, without revoked ones. */
  private async between({ sessionIds }: PartyFacts, { partyId }: PartyFacts): Promise<ActiveShare[]> {
    const links = await Promise.all(
      sessionIds.map(async (sessionId) => (await this.aggregates.load(share, shareIdOf(sessionId, partyId))).state),
    );
    return links.filter((link) => link.status === 'SHARED');
  }
}
