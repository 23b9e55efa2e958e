import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../../kernel/clock.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { derivedId, newId } from '../../../kernel/ids.js';
import type { VaultPlace, VaultPromise } from '../../../kernel/vault-promise.js';
import { Vault } from '../../../ports/vault.js';
import {
  type EndpointEvent,
  type EndpointState,
  type NewKey,
  type SignatureVersion,
  webhookEndpoint,
} from '../domain/endpoint.js';
import { publicKeyOf } from '../domain/signature.js';

const SECRET_BYTES = 32;
/** A secret that is no longer cached is read from the vault again. */
const REMEMBERED_SECRETS = 20_000;

/** A secret and a private key are kept permanently, so that old signatures can be checked. A contact is kept until it is changed or the endpoint is deleted. */
export const ENDPOINT_SECRETS: readonly VaultPromise[] = [
  promised('WebhookEndpointRegistered', secretIn, []),
  promised('WebhookSecretRotated', secretIn, []),
  promised('WebhookKeyMade', privateKeyIn, []),
  promised('WebhookEndpointRegistered', contactIn, ['WebhookContactChosen', 'WebhookEndpointDeleted']),
  promised('WebhookContactChosen', contactIn, ['WebhookContactChosen', 'WebhookEndpointDeleted']),
];

/** Signing secrets, private keys and contacts of endpoints, in the vault under the account. The secret of an id never changes, so it can be cached. */
@Injectable()
export class EndpointSecrets {
  private readonly remembered = new LRUCache<string, Uint8Array>({
    maxSize: REMEMBERED_SECRETS,
    sizeCalculation: () => 1,
  });

  constructor(
    private readonly vault: Vault,
    private readonly clock: Clock,
  ) {}

  /** Stores a secret before the log names it. Returns the stored secret when an earlier process stored it and died. */
  async create(accountId: string, secretId: string): Promise<Uint8Array> {
    const made = await this.vault.get(subjectOf(accountId), secretEntry(secretId));
    if (made !== null) return made;
    const secret = randomBytes(SECRET_BYTES);
    await this.vault.put(subjectOf(accountId), secretEntry(secretId), secret);
    return secret;
  }

  /** A private key of Ed25519 is 32 random bytes, as a secret is, so the vault keeps both in the same way. */
  async createKey(accountId: string, keyId: string): Promise<NewKey> {
    const publicKey = publicKeyOf(await this.create(accountId, keyId));
    return { keyId, publicKey, validFrom: this.clock.now().toISOString() };
  }

  /** A key pair for an endpoint with `v1a`, if its account has none. */
  async firstKey(
    accountId: string,
    { keys }: EndpointState,
    signatures: readonly SignatureVersion[] = [],
  ): Promise<{ readonly key?: NewKey }> {
    return signatures.includes('v1a') && keys.length === 0 ? { key: await this.createKey(accountId, newId()) } : {};
  }

  /** The secret or private key of that id. */
  async secret(accountId: string, secretId: string): Promise<Uint8Array> {
    const known = this.remembered.get(secretId);
    if (known !== undefined) return known;
    const secret = await this.vault.get(subjectOf(accountId), secretEntry(secretId));
    if (secret === null) throw new Error(`The signing secret ${secretId} is not in the vault`);
    this.remembered.set(secretId, secret);
    return secret;
  }

  async keepContact(accountId: string, endpointId: string, address: string | null): Promise<void> {
    if (address === null) await this.vault.remove(subjectOf(accountId), contactEntry(endpointId));
    else await this.vault.put(subjectOf(accountId), contactEntry(endpointId), Buffer.from(address));
  }

  async contact(accountId: string, endpointId: string): Promise<string | null> {
    const address = await this.vault.get(subjectOf(accountId), contactEntry(endpointId));
    return address && Buffer.from(address).toString('utf8');
  }
}

function promised(
  type: EndpointEvent['type'],
  entry: (data: never) => string | null,
  until: readonly EndpointEvent['type'][],
): VaultPromise {
  const place = ({ stream, data }: RecordedEvent): VaultPlace | null => {
    const named = entry(data as never);
    return named === null ? null : { subject: subjectOf(idOf(stream)), entry: named };
  };
  return { category: webhookEndpoint.category, type, place, until };
}

function secretIn({ secretId }: { readonly secretId: string }): string {
  return secretEntry(secretId);
}

function privateKeyIn({ keyId }: { readonly keyId: string }): string {
  return secretEntry(keyId);
}

function contactIn({
  endpointId,
  notifies,
}: {
  readonly endpointId: string;
  readonly notifies: boolean;
}): string | null {
  return notifies ? contactEntry(endpointId) : null;
}

function subjectOf(accountId: string): string {
  return derivedId('webhook-vault-subject', accountId);
}

function secretEntry(secretId: string): string {
  return `webhook-secret:${secretId}`;
}

function contactEntry(endpointId: string): string {
  return `webhook-contact:${endpointId}`;
}
