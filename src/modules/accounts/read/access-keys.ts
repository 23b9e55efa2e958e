import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { fold } from '../../../kernel/decider.js';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import type { Environment } from '../../../kernel/environment.js';
import { exhaustiveEvents, listOf, type Projection } from '../../../kernel/projection.js';
import { EventStore } from '../../../ports/event-store.js';
import { AccessKeys, type KeyHolder, type PublishableKey } from '../../../published/access-keys.js';
import {
  accessKey,
  type AccessKeyEvent,
  type AccessKeyState,
  type IssuedKey,
  type KeyUse,
} from '../domain/access-key.js';
import { dashboardToken, type DashboardTokenEvent } from '../domain/dashboard-token.js';
import { isKey, keyIdIn } from '../domain/key-text.js';
import { AccountDirectory } from './accounts.js';
import { RememberedStreams } from './remembered-streams.js';

const known = exhaustiveEvents<AccessKeyEvent>('access_key', {
  AccessKeyIssued: true,
  OriginsAllowed: true,
  ExchangeLimitSet: true,
  AccessKeyDeactivated: true,
});

/** A key without its text. The service stores only the hash of the text. */
export interface AccessKeyView {
  readonly status: IssuedKey['status'];
  readonly accountId: string;
  readonly environment: Environment;
  readonly use: KeyUse;
  readonly keyHash: string;
}

/** The list of an account's keys. */
export const keysOfAccount = (account: string): string => listOf({ account });

export const accessKeyProjection: Projection<AccessKeyView, IssuedKey> = {
  name: 'access_key',
  version: 4,
  category: accessKey.category,
  evolve(state, event) {
    const next = accessKey.evolve(state ?? accessKey.initial, known(event));
    if (next.status === 'unknown') throw new Error(`${event.stream} begins with ${event.type}`);
    return next;
  },
  view: ({ status, accountId, environment, use, keyHash }) => ({ status, accountId, environment, use, keyHash }),
  entries: ({ accountId }) => [{ list: keysOfAccount(accountId) }],
};

export interface ListedKey extends AccessKeyView {
  readonly keyId: string;
}

const PUBLISHABLE_FOR_MS = 30_000;

@Injectable()
export class AccessKeyDirectory extends AccessKeys {
  private readonly keys: RememberedStreams<AccessKeyState, AccessKeyEvent>;

  constructor(
    private readonly store: EventStore,
    private readonly accounts: AccountDirectory,
    clock: Clock,
  ) {
    super();
    this.keys = new RememberedStreams(store, accessKey, clock, PUBLISHABLE_FOR_MS);
  }

  override async publishable(text: string): Promise<PublishableKey | null> {
    const keyId = keyIdIn('publishable', text);
    const key = issued(await this.keys.recent(keyId));
    if (!isKey(text, key?.keyHash ?? null) || key?.use.kind !== 'publishable') return null;
    const { accountId, environment, status, use } = key;
    const exchangesPerMinute = use.perMinute ?? (await this.accounts.recall(accountId))?.exchangesPerMinute ?? null;
    return {
      keyId,
      accountId,
      environment,
      active: status === 'active',
      allowedOrigins: use.allowedOrigins,
      exchangesPerMinute,
    };
  }

  override async authenticate(kind: 'secret' | 'api', text: string): Promise<KeyHolder | null> {
    const keyId = keyIdIn(kind, text);
    const key = issued(await this.keys.now(keyId));
    // The hash includes the prefix, so a key that matches has the kind that was looked up.
    if (!isKey(text, key?.keyHash ?? null) || key?.status !== 'active') return null;
    const { accountId, environment, use } = key;
    return { keyId, accountId, environment, ...(use.kind === 'api' && { clientClass: use.clientClass }) };
  }

  override async isRevoked(tokenId: string): Promise<boolean> {
    const history = await this.store.readStream(`${dashboardToken.category}-${tokenId}`);
    return fold(dashboardToken, history as Iterable<RecordedEvent & DashboardTokenEvent>).revoked;
  }

  /** Reads the log, because a read model could be older than a deactivation and could be changed without a trace. */
  async read(keyId: string): Promise<ListedKey | null> {
    const key = issued(await this.keys.now(keyId));
    return key === null ? null : { keyId, ...accessKeyProjection.view(key) };
  }

  /** The keys among these that belong to the account. An owner never changes. */
  async ownAmong(keyIds: ReadonlySet<string>, accountId: string): Promise<ReadonlySet<string>> {
    const keys = await Promise.all([...keyIds].map(async (id) => ({ id, key: issued(await this.keys.recent(id)) })));
    return new Set(keys.flatMap(({ id, key }) => (key?.accountId === accountId ? [id] : [])));
  }
}

function issued(state: AccessKeyState): IssuedKey | null {
  return state.status === 'unknown' ? null : state;
}
