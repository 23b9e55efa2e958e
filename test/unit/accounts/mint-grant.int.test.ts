// The tests mint and find session grants on a real log and a real vault.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { DiskVault } from '../../../src/adapters/vault/disk.js';
import { MasterKeys } from '../../../src/adapters/vault/master-keys.js';
import { SetClock } from '../../support/clock.js';
import { derivedId, newId } from '../../../src/kernel/ids.js';
import { AccountGrants } from '../../../src/modules/accounts/application/account-grants.js';
import { GrantDetails } from '../../../src/modules/accounts/application/grant-details.js';
import {
  IssueGrant,
  IssueGrantHandler,
  type GrantRequest,
} from '../../../src/modules/accounts/application/issue-grant.js';
import { hashKey } from '../../../src/modules/accounts/domain/key-text.js';
import { sessionGrant, type GrantTerms } from '../../../src/modules/accounts/domain/session-grant.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import { TestTraffic } from '../../../src/platform/aggregates/test-traffic.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import { SubjectErased } from '../../../src/ports/vault.js';
import type { Accounts } from '../../../src/published/accounts.js';

const NOTHING: GrantRequest = {
  onBehalfOf: null,
  userType: null,
  endUserType: null,
  purpose: null,
  recipientAccountId: null,
  applicationFeeCents: null,
  details: null,
};
const subjectOf = (grantId: string): string => derivedId('session-grant', grantId);
const clock = new SetClock();

describe('minting a session grant', () => {
  it('keeps the requested application fee within the limit of the account that embeds the component', async () => {
    const { grantId } = await mint({ applicationFeeCents: 700 });
    expect(await new AccountGrants(aggregates, details, clock).find(grantId)).toMatchObject({
      applicationFeeCents: 700,
    });
    await expect(mint({ onBehalfOf: child, applicationFeeCents: 501 })).rejects.toMatchObject({
      code: 'request.invalid',
      detail: { field: 'grant.applicationFee' },
    });
    expect(await mint({ onBehalfOf: child, applicationFeeCents: 500 })).toMatchObject({ accountId: child });
  });

  it('refuses a purpose that the account must certify and has not', async () => {
    await expect(mint({ onBehalfOf: child, purpose: 'TENANT_SCREENING' })).rejects.toMatchObject({
      code: 'report.purpose_not_certified',
      detail: { field: 'screening.purpose' },
    });
    const { grantId } = await mint({ purpose: 'TENANT_SCREENING' });
    expect(await new AccountGrants(aggregates, details, clock).find(grantId)).toMatchObject({
      purpose: 'TENANT_SCREENING',
    });
  });

  const [parent, child, stranger] = [newId(), newId(), newId()];
  const parents = new Map<string, string | null>([
    [parent, null],
    [child, parent],
    [stranger, null],
  ]);
  const accounts = {
    find: async (id: string) =>
      parents.has(id)
        ? {
            accountId: id,
            parentId: parents.get(id),
            applicationFeeCents: null,
            maxApplicationFeeCents: id === child ? 500 : null,
            purposeRequired: id === child,
            certification: null,
          }
        : null,
  } as unknown as Accounts;
  let directory: string;
  let store: EmbeddedEventStore;
  let vault: DiskVault;
  let details: GrantDetails;
  let aggregates: AggregateStore;
  let handler: IssueGrantHandler;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'grants-'));
    store = EmbeddedEventStore.open({ directory: join(directory, 'events'), mapSizeBytes: 64 * 2 ** 20 });
    vault = DiskVault.open({
      directory: join(directory, 'vault'),
      keys: MasterKeys.parse(`test:${randomBytes(32).toString('base64')}`),
      clock,
      mapSizeBytes: 64 * 2 ** 20,
    });
    details = new GrantDetails(vault);
  });
  afterAll(async () => {
    await store.close();
    await vault.close();
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    aggregates = new AggregateStore(store, { applyNow: async () => undefined } as unknown as ReadModels, clock, {
      appendConflict: () => undefined,
    });
    handler = new IssueGrantHandler(aggregates, new TestTraffic(), accounts, details, clock, { ttlSeconds: 900 });
  });

  const mint = (wishes: Partial<GrantRequest> = {}, environment: 'live' | 'test' = 'test') =>
    handler.execute(
      new IssueGrant(
        { ...NOTHING, ...wishes },
        {
          accountId: parent,
          environment,
          actor: { kind: 'secret-key', id: 'key' },
          correlationId: 'request',
          causationId: 'request',
        },
      ),
    );
  const eventsOf = (grantId: string) => store.readStream(`session_grant-${grantId}`);

  it('keeps the hash of the token, the account that minted the grant, and the account that the grant is for', async () => {
    const minted = await mint({ onBehalfOf: child, userType: 'AGENT', recipientAccountId: stranger }, 'live');
    expect(minted).toMatchObject({
      accountId: child,
      onBehalfOf: child,
      environment: 'live',
      expiresInSeconds: 900,
      expiresAt: '2026-03-01T12:15:00.000Z',
    });
    const [event, ...more] = await eventsOf(minted.grantId);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      type: 'GrantMinted',
      data: {
        mintedBy: parent,
        onBehalfOf: child,
        environment: 'live',
        userType: 'AGENT',
        recipientAccountId: stranger,
        detailsSubject: null,
        tokenHash: hashKey(minted.token),
        expiresAt: '2026-03-01T12:15:00.000Z',
      },
      metadata: { accountId: child, environment: 'live', actor: { kind: 'secret-key', id: 'key' } },
    });
    expect(JSON.stringify(event)).not.toContain(minted.token.slice(-43));
  });

  it("keeps the caller's details in the vault under a subject of their own, and not in the log", async () => {
    const words = { external_id: 'Ada Canary', metadata: { unit: '4B canary' } };
    const [one, other] = [await mint({ details: words }), await mint({ details: { external_id: 'other' } })];
    const saidOf = async (grantId: string) => ((await eventsOf(grantId))[0]!.data as GrantTerms).detailsSubject!;
    const subject = await saidOf(one.grantId);
    expect(JSON.parse(Buffer.from((await vault.get(subject, one.grantId))!).toString())).toEqual(words);
    expect([parent, one.grantId, await saidOf(other.grantId)]).not.toContain(subject);
    expect(JSON.stringify(await eventsOf(one.grantId))).not.toMatch(/canary/i);
  });

  it('keeps a hash of the external id, which only the same id, account and environment repeat', async () => {
    const grants = new AccountGrants(aggregates, details, clock);
    const hashOf = async (wishes: Partial<GrantRequest>, environment?: 'live') =>
      (await grants.find((await mint(wishes, environment)).grantId))?.externalIdHash;
    const named = { details: { external_id: 'lease 7' } };
    const hash = await hashOf(named);
    expect(hash).toEqual(expect.any(String));
    expect(await hashOf(named)).toBe(hash);
    const others = [
      await hashOf({ details: { external_id: 'lease 8' } }),
      await hashOf({ ...named, onBehalfOf: child }),
      await hashOf(named, 'live'),
    ];
    expect(new Set([hash, ...others]).size).toBe(4);
    expect(await hashOf({ details: { metadata: { unit: '4B' } } })).toBeNull();
  });

  describe('when a session begins under the grant', () => {
    const context = {
      accountId: parent,
      environment: 'test',
      actor: { kind: 'platform-token', id: 'key' },
      correlationId: 'submit',
      causationId: 'submit',
    } as const;
    const typesOf = async (grantId: string) => (await eventsOf(grantId)).map(({ type }) => type);
    const wordsUnder = async (subject: string, grantId: string) => {
      const kept = await vault.get(subject, grantId);
      return kept && JSON.parse(Buffer.from(kept).toString());
    };
    const move = (grantId: string, subjectId: string) =>
      new AccountGrants(aggregates, details, clock).moveDetails(grantId, subjectId, context);

    it("moves the caller's details to the first person", async () => {
      const words = { external_id: 'one' };
      const [{ grantId }, other] = [await mint({ details: words }), await mint({ details: words })];
      const [person, later] = [newId(), newId()];
      for (const subject of [person, person, later]) await move(grantId, subject);
      expect([await wordsUnder(person, grantId), await wordsUnder(later, grantId)]).toEqual([words, null]);
      await expect(vault.get(subjectOf(grantId), grantId)).rejects.toThrow(SubjectErased);
      expect(await typesOf(grantId)).toEqual(['GrantMinted', 'GrantDetailsEntrusted']);
      expect((await eventsOf(grantId))[1]).toMatchObject({
        data: { subjectId: person },
        metadata: { accountId: parent, actor: { kind: 'platform-token', id: 'key' } },
      });
      expect(await wordsUnder(subjectOf(other.grantId), other.grantId)).toEqual(words);
      expect(await new AccountGrants(aggregates, details, clock).find(grantId)).toMatchObject({ grantId });
    });

    it('moves only the details of this grant when an earlier version kept the details of all grants together', async () => {
      const shared = derivedId('session-grants', parent);
      const { data: terms } = (await eventsOf((await mint()).grantId))[0]! as unknown as { readonly data: GrantTerms };
      const [grantId, other, person] = [newId(), newId(), newId()];
      for (const id of [grantId, other]) {
        await vault.put(shared, id, Buffer.from('{"external_id":"early"}'));
        await aggregates.execute(
          sessionGrant,
          id,
          { kind: 'mint', terms: { ...terms, detailsSubject: shared } },
          context,
        );
      }
      await move(grantId, person);
      expect([
        await wordsUnder(person, grantId),
        await wordsUnder(shared, grantId),
        await wordsUnder(shared, other),
      ]).toEqual([{ external_id: 'early' }, null, { external_id: 'early' }]);
    });

    it('destroys the details when the person was erased in the meantime', async () => {
      const { grantId } = await mint({ details: { external_id: 'one' } });
      const person = newId();
      await vault.put(person, 'entry', Buffer.from('x'));
      await vault.erase(person);
      await move(grantId, person);
      await expect(vault.get(subjectOf(grantId), grantId)).rejects.toThrow(SubjectErased);
    });

    it('changes nothing when the grant has no details or does not exist', async () => {
      const { grantId } = await mint();
      for (const id of [grantId, newId(), 'x']) await move(id, newId());
      expect(await typesOf(grantId)).toEqual(['GrantMinted']);
    });
  });

  it.each<[string, string]>([
    ['unknown', newId()],
    ['a stranger', stranger],
    ['itself', parent],
    ['malformed', 'child'],
    ['empty', ''],
  ])('answers 404 when the grant is on behalf of an account that is %s', async (_, onBehalfOf) => {
    await expect(mint({ onBehalfOf })).rejects.toMatchObject({ code: 'request.not_found', detail: {} });
  });

  it.each([newId(), 'someone', ''])('answers 400 when the recipient does not exist: %j', async (recipientAccountId) => {
    await expect(mint({ recipientAccountId })).rejects.toMatchObject({
      code: 'request.invalid',
      detail: { field: 'grant.recipient' },
    });
  });

  it('makes a grant that can be found by its id, together with the account that embeds the component', async () => {
    const grants = new AccountGrants(aggregates, details, clock);
    const minted = await mint({ onBehalfOf: child, recipientAccountId: stranger });
    expect(await grants.find(minted.grantId)).toEqual({
      grantId: minted.grantId,
      accountId: child,
      environment: 'test',
      recipientAccountId: stranger,
      userType: null,
      endUserType: null,
      purpose: null,
      applicationFeeCents: null,
      externalIdHash: null,
    });
    const plain = await mint();
    expect(await grants.find(plain.grantId)).toEqual({
      grantId: plain.grantId,
      accountId: parent,
      environment: 'test',
      recipientAccountId: null,
      userType: null,
      endUserType: null,
      purpose: null,
      applicationFeeCents: null,
      externalIdHash: null,
    });
    for (const id of [newId(), 'grant', '', minted.token, minted.grantId.toUpperCase()])
      expect([id, await grants.find(id)]).toEqual([id, null]);
  });
});
