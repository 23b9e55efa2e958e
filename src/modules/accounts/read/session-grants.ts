import { Injectable } from '@nestjs/common';
import { fold } from '../../../kernel/decider.js';
import type { RecordedEvent } from '../../../kernel/fact.js';
import { isId } from '../../../kernel/ids.js';
import { EventStore } from '../../../ports/event-store.js';
import { SessionGrants, type GrantFacts } from '../../../published/session-grants.js';
import { embedderOf, sessionGrant, type SessionGrantEvent } from '../domain/session-grant.js';

/** Reads the log itself: a grant is two events long, and a session is opened under it once. */
@Injectable()
export class GrantDirectory extends SessionGrants {
  constructor(private readonly store: EventStore) {
    super();
  }

  override async find(grantId: string): Promise<GrantFacts | null> {
    if (!isId(grantId)) return null;
    const history = await this.store.readStream(`${sessionGrant.category}-${grantId}`);
    const state = fold(sessionGrant, history as Iterable<RecordedEvent & SessionGrantEvent>);
    if (state.status === 'unknown') return null;
    const { environment, recipientAccountId } = state;
    return { grantId, accountId: embedderOf(state), environment, recipientAccountId };
  }
}
