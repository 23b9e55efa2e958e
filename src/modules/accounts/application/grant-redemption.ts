import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { PublishableKey } from '../../../published/access-keys.js';
import { Accounts, type AccountFacts } from '../../../published/accounts.js';
import { isKey, keyIdIn } from '../domain/key-text.js';
import { embedderOf, faultOf, sessionGrant, type GrantFault } from '../domain/session-grant.js';

export type Redemption = { readonly onBehalfOfChild: boolean } &
  /** `account`: the account of the bearer token that will be issued. */
  (
    | { readonly consumed: true; readonly grantId: string; readonly account: AccountFacts }
    | { readonly consumed: false; readonly reason: GrantFault }
  );

/** Redeems a grant's token for the right to a bearer token. When several requests try at once, one of them redeems the grant. */
@Injectable()
export class GrantRedemption {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly accounts: Accounts,
    private readonly clock: Clock,
  ) {}

  /** Redeems the grant as the last step, after every step that may fail. `tokenId`: `jti` of the bearer token to be issued. */
  async redeem(text: string, key: PublishableKey, tokenId: string, correlationId: string): Promise<Redemption> {
    const grantId = keyIdIn('grant', text);
    const loaded = await this.aggregates.load(sessionGrant, grantId);
    const { state } = loaded;
    if (!isKey(text, state.status === 'unknown' ? null : state.tokenHash) || state.status === 'unknown')
      return { consumed: false, reason: 'NOT_FOUND', onBehalfOfChild: false };
    const onBehalfOfChild = state.onBehalfOf !== null;
    const presentation = { now: this.clock.now(), accountId: key.accountId, environment: key.environment };
    const accountId = embedderOf(state);
    const account = await this.accounts.find(accountId);
    if (account === null) throw new Error(`The account of grant ${grantId} does not exist`);
    const context = {
      accountId,
      environment: state.environment,
      actor: { kind: 'platform-token', id: key.keyId },
      correlationId,
      causationId: correlationId,
    } as const;
    const handled = await this.aggregates.execute(
      sessionGrant,
      { id: grantId, known: loaded },
      { kind: 'consume', presentation, tokenId },
      context,
    );
    if (handled.events.length > 0) return { consumed: true, grantId, account, onBehalfOfChild };
    const reason = faultOf(handled.state, presentation);
    if (reason === null) throw new Error(`Grant ${grantId} was not redeemed, and no rule says why`);
    return { consumed: false, reason, onBehalfOfChild };
  }
}
