import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { HoldKind } from '../../../kernel/held-data.js';
import { isId, newId } from '../../../kernel/ids.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Vault } from '../../../ports/vault.js';
import { isErased } from '../../../ports/vault-entry.js';
import type { HeldSession } from '../../../published/holds.js';
import { accountHolds, type Coverage } from '../domain/account-holds.js';
import { Erasables } from './erasables.js';

export interface HoldOrder {
  readonly kind: HoldKind;
  /** `person`: the id of any session of the person. */
  readonly id: string;
  readonly matter: string;
  readonly orderedBy: string;
  /** ISO 8601 UTC; null: until the release. */
  readonly until: string | null;
}

export interface PlacedHold {
  readonly holdId: string;
  readonly accountId: string;
  readonly covers: Coverage;
  /** Whether the data was erased before the hold. Null for an account. */
  readonly erasedBefore: boolean | null;
}

/** Places a legal hold. From then on the data that it covers is neither erased nor disposed of. The account of an account's hold must exist. */
@UseCase()
export class PlaceHold extends Command<PlacedHold> {
  constructor(
    readonly order: HoldOrder,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(PlaceHold)
export class PlaceHoldHandler implements ICommandHandler<PlaceHold> {
  constructor(
    private readonly streams: GroupedStream,
    private readonly erasables: Erasables,
    private readonly vault: Vault,
  ) {}

  async execute({ order: { kind, id, ...order }, context }: PlaceHold): Promise<PlacedHold> {
    const session = kind === 'account' ? null : await this.sessionOf(id);
    const accountId = session?.accountId ?? id;
    const covers = coverageOf(kind, session, accountId);
    const holdId = newId();
    const owner = { accountId, environment: null };
    await this.streams.execute(
      accountHolds,
      accountId,
      { kind: 'place', holdId, covers, ...order },
      { ...context, ...owner },
    );
    // Asked only now, because an erasure may have begun before the hold.
    return { holdId, accountId, covers, erasedBefore: session && (await isErased(this.vault, session.subjectId)) };
  }

  private async sessionOf(sessionId: string): Promise<HeldSession> {
    const session = isId(sessionId) ? await this.erasables.find(sessionId) : null;
    if (session === null) throw new DomainError('request.not_found', { field: 'session' });
    return session;
  }
}

function coverageOf(kind: HoldKind, session: HeldSession | null, accountId: string): Coverage {
  if (session === null || kind === 'account') return { kind: 'account', id: accountId };
  const { sessionId, subjectId } = session;
  return kind === 'session' ? { kind, id: sessionId, subjectId } : { kind, id: subjectId };
}
