// Consenting to share, revoking, and choosing the recipient.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { sharePublisher } from '../../../src/modules/reports/application/publish.js';
import { share, shareIdOf } from '../../../src/modules/reports/domain/share.js';
import { Harness, NOBODY, Process, GIVEN } from './harness.js';

let harness: Harness;
let here: Process;
beforeAll(async () => {
  harness = await Harness.build();
});
afterAll(() => harness.close());
beforeEach(() => {
  here = new Process(harness);
  harness.bureau.asked.length = 0;
  harness.bureau.answers = [GIVEN];
});

const conditionOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'done',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
const to = (recipientAccountId: string | null) => ({ grantId: null, recipientAccountId });

describe('consenting to share', () => {
  it('pulls the report if it was not yet pulled, so that the recipient has a report to see', async () => {
    const owner = await harness.account(1);
    const recipient = await harness.childOf(owner);
    const sessionId = harness.session(owner);
    const shared = await here.consent(sessionId, to(recipient), harness.as(owner));
    expect(shared).toMatchObject({
      status: 'SHARED',
      sessionId,
      recipientAccountId: recipient,
      sharedAt: harness.clock.now().toISOString(),
    });
    expect(harness.bureau.asked).toHaveLength(1);
    expect(await harness.credit(owner)).toEqual({ balance: 0, reserved: 0 });
    expect(await here.open(sessionId, harness.as(owner))).toMatchObject({ id: shared.reportId });
  });

  it("a second time returns the same share without an event, even in several processes at once and after the owner's 30 days", async () => {
    const owner = await harness.account();
    const recipient = await harness.childOf(owner);
    const sessionId = harness.session(owner);
    const all = await Promise.all(
      [here, new Process(harness), here].map((process) => process.consent(sessionId, to(recipient), harness.as(owner))),
    );
    harness.clock.pass(86_400 * 40);
    all.push(await here.consent(sessionId, to(recipient), harness.as(owner)));
    expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(await harness.types('share', shareIdOf(sessionId, recipient))).toEqual(['ReportShared']);
  });

  it('is refused with the same errors as when the owner reads the report', async () => {
    const owner = await harness.account(0);
    expect(
      await conditionOf(
        here.consent(
          harness.session(owner, { status: 'OTP_PENDING', overallStatus: 'OTP_PENDING' }),
          NOBODY,
          harness.as(owner),
        ),
      ),
    ).toBe('report.not_completed');
    expect(
      await conditionOf(here.consent(harness.session(owner, { userType: 'PMC' }), NOBODY, harness.as(owner))),
    ).toBe('report.access_denied');
    expect(await conditionOf(here.consent(harness.session(owner), NOBODY, harness.as(owner)))).toBe(
      'report.credit_exhausted',
    );
  });

  it('is refused for an expired report', async () => {
    const owner = await harness.account();
    const recipient = await harness.childOf(owner);
    const sessionId = harness.session(owner);
    await here.open(sessionId, harness.as(owner));
    harness.clock.pass(86_400 * 30);
    expect(await conditionOf(here.consent(sessionId, to(recipient), harness.as(owner)))).toBe('report.expired');
  });

  it("is allowed only to callers of the session's own account", async () => {
    const [owner, other] = [await harness.account(), await harness.account()];
    const sessionId = harness.session(owner);
    for (const id of [sessionId, newId(), 'x']) {
      expect(await conditionOf(here.consent(id, NOBODY, harness.as(other)))).toBe('screening.not_found');
      expect(await conditionOf(here.revoke(id, owner, harness.as(other)))).toBe('screening.not_found');
    }
  });
});

describe('revoking a share', () => {
  it('is refused without a share, happens once, and is permanent', async () => {
    const owner = await harness.account();
    const recipient = await harness.childOf(owner);
    const sessionId = harness.session(owner);
    expect(await conditionOf(here.revoke(sessionId, recipient, harness.as(owner)))).toBe('sharing.not_found');
    const { reportId } = await here.consent(sessionId, to(recipient), harness.as(owner));
    expect((await here.revoke(sessionId, recipient, harness.as(owner)))[0]).toMatchObject({
      status: 'REVOKED',
      reportId,
      sessionId,
      recipientAccountId: recipient,
      revokedAt: harness.clock.now().toISOString(),
    });
    expect(await conditionOf(here.revoke(sessionId, recipient, harness.as(owner)))).toBe('sharing.already_revoked');
    expect(await conditionOf(here.consent(sessionId, to(recipient), harness.as(owner)))).toBe(
      'sharing.already_revoked',
    );
    expect(await harness.types('share', shareIdOf(sessionId, recipient))).toEqual(['ReportShared', 'SharingRevoked']);
  });

  it('ends one share and leaves the others', async () => {
    const owner = await harness.account();
    const [one, other] = [await harness.childOf(owner), await harness.childOf(owner)];
    const sessionId = harness.session(owner);
    for (const recipient of [one, other]) await here.consent(sessionId, to(recipient), harness.as(owner));
    await here.revoke(sessionId, one, harness.as(owner));
    expect(await conditionOf(here.open(sessionId, harness.as(one)))).toBe('sharing.revoked');
    expect(await conditionOf(here.open(sessionId, harness.as(other)))).toBe('done');
  });

  it('ends each share of the report, even when the list shows none', async () => {
    const owner = await harness.account();
    const recipients = [await harness.childOf(owner), await harness.childOf(owner), owner];
    const sessionId = harness.session(owner);
    for (const recipient of recipients) await here.consent(sessionId, to(recipient), harness.as(owner));
    const revoked = await here.revokeAll(sessionId, [], harness.as(owner));
    expect(revoked.map(({ recipientAccountId }) => recipientAccountId).sort()).toEqual([...recipients].sort());
    expect(await conditionOf(here.revokeAll(sessionId, [], harness.as(owner)))).toBe('sharing.already_revoked');
  });

  it('ends a listed share that the register does not have, but not a share of another report', async () => {
    const owner = await harness.account();
    const [recipient, other] = [await harness.childOf(owner), harness.session(owner)];
    await here.consent(other, to(recipient), harness.as(owner));
    const sessionId = harness.session(owner);
    const listedIds = [shareIdOf(other, recipient)];
    expect(await conditionOf(here.revokeAll(sessionId, listedIds, harness.as(owner)))).toBe('sharing.not_found');
    expect(await harness.types('share', shareIdOf(other, recipient))).toEqual(['ReportShared']);
    // Stores the share like releases that had no register of shares.
    const earlier = shareIdOf(sessionId, recipient);
    const { reportId } = await here.consent(other, to(recipient), harness.as(owner));
    await here.aggregates.execute(
      share,
      earlier,
      {
        kind: 'share',
        now: harness.clock.now(),
        reportId,
        sessionId,
        recipientAccountId: recipient,
        purpose: 'TENANT_SCREENING',
        windowSeconds: null,
      },
      harness.as(owner),
    );
    expect(await here.revokeAll(sessionId, [...listedIds, earlier], harness.as(owner))).toMatchObject([{ sessionId }]);
    expect(await harness.types('share', shareIdOf(other, recipient))).toEqual(['ReportShared']);
  });
});

describe('the recipient of a share', () => {
  it('is named by the grant of the token or session, even if the page names another', async () => {
    const [owner, granted, page] = [await harness.account(), await harness.account(), await harness.account()];
    const grantId = newId();
    harness.grants.known.set(grantId, {
      grantId,
      accountId: owner,
      environment: 'test',
      recipientAccountId: granted,
      userType: null,
      endUserType: null,
      purpose: null,
      applicationFeeCents: null,
      externalIdHash: null,
    });
    expect(
      await here.consent(harness.session(owner), { grantId, recipientAccountId: page }, harness.as(owner)),
    ).toMatchObject({ recipientAccountId: granted });
    expect(
      await here.consent(harness.session(owner, { intendedRecipientId: granted }), to(page), harness.as(owner)),
    ).toMatchObject({ recipientAccountId: granted });
  });

  it("is the account that the page names if no grant names one, and otherwise the session's own account", async () => {
    const [owner, page] = [await harness.account(), await harness.account()];
    const grantId = newId();
    harness.grants.known.set(grantId, {
      grantId,
      accountId: owner,
      environment: 'test',
      recipientAccountId: null,
      userType: null,
      endUserType: null,
      purpose: null,
      applicationFeeCents: null,
      externalIdHash: null,
    });
    expect(
      await here.consent(harness.session(owner), { grantId, recipientAccountId: page }, harness.as(owner)),
    ).toMatchObject({ recipientAccountId: page });
    expect(
      await here.consent(harness.session(owner), { grantId, recipientAccountId: null }, harness.as(owner)),
    ).toMatchObject({ recipientAccountId: owner });
    expect(
      await here.consent(harness.session(owner), { grantId: newId(), recipientAccountId: null }, harness.as(owner)),
    ).toMatchObject({ recipientAccountId: owner });
  });

  it("without a grant is the session's account, its parent or a direct child, and no other account", async () => {
    const parent = await harness.account();
    const owner = await harness.account(null, { parentId: parent });
    const child = await harness.childOf(owner);
    const sibling = await harness.childOf(parent);
    const grandchild = await harness.childOf(child);
    for (const recipient of [owner, parent, child])
      expect(await here.consent(harness.session(owner), to(recipient), harness.as(owner))).toMatchObject({
        recipientAccountId: recipient,
      });
    for (const recipient of [sibling, grandchild, await harness.account()])
      expect(await conditionOf(here.consent(harness.session(owner), to(recipient), harness.as(owner)))).toBe(
        'request.forbidden',
      );
  });

  it('must be an account', async () => {
    const owner = await harness.account();
    for (const recipient of [newId(), 'x', '../../x']) {
      await expect(here.consent(harness.session(owner), to(recipient), harness.as(owner))).rejects.toMatchObject({
        code: 'request.invalid',
        detail: { field: 'share.recipient' },
      });
    }
    expect(harness.bureau.asked).toEqual([]);
  });
});

describe('the published events of a share', () => {
  it("report the share and its end to the session's account, with exactly the documented fields", async () => {
    const owner = await harness.account();
    const recipient = await harness.childOf(owner);
    const sessionId = harness.session(owner);
    const { reportId } = await here.consent(sessionId, to(recipient), harness.as(owner));
    harness.clock.pass(5);
    const [{ revokedAt }] = await here.revoke(sessionId, recipient, harness.as(owner));
    const history = await harness.store.readStream(`share-${shareIdOf(sessionId, recipient)}`);
    expect(history.every(({ type }) => sharePublisher.types.has(type))).toBe(true);
    const links = { reportUrl: null, incomeReportUrl: null };
    const [shared, revoked] = [
      sharePublisher.publish(history.slice(0, 1), links),
      sharePublisher.publish(history, links),
    ];
    const envelope = {
      id: expect.stringMatching(/^evt_[0-9a-f-]{36}$/),
      schema_version: 1,
      environment: 'test',
      account_id: owner,
    };
    const common = { report_id: reportId, session_id: sessionId, recipient_account_id: recipient };
    const sharedAt = history[0]?.metadata.occurredAt;
    expect(shared).toEqual({
      ...envelope,
      type: 'report.shared',
      occurred_at: sharedAt,
      data: { ...common, shared_at: sharedAt },
    });
    expect(revoked).toEqual({
      ...envelope,
      type: 'report.revoked',
      occurred_at: revokedAt,
      data: { ...common, revoked_at: revokedAt },
    });
    expect(sharePublisher.publish(history, links)?.id).toBe(revoked?.id);
    expect(shared?.id).not.toBe(revoked?.id);
    expect([sharePublisher.publish([], links), sharePublisher.category]).toEqual([null, 'share']);
  });
});
