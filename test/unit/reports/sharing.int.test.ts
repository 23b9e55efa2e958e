// Consenting to share, revoking, and choosing the recipient.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { sharePublisher } from '../../../src/modules/reports/application/publish.js';
import { share, shareIdOf } from '../../../src/modules/reports/domain/share.js';
import { House, NOBODY, Process, GIVEN } from './house.js';

let house: House;
let here: Process;
beforeAll(async () => {
  house = await House.build();
});
afterAll(() => house.close());
beforeEach(() => {
  here = new Process(house);
  house.bureau.asked.length = 0;
  house.bureau.answers = [GIVEN];
});

const conditionOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'done',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
const to = (recipientAccountId: string | null) => ({ grantId: null, recipientAccountId });

describe('consenting to share', () => {
  it('pulls the report if it was not yet pulled, so that the recipient has a report to see', async () => {
    const owner = await house.account(1);
    const recipient = await house.childOf(owner);
    const sessionId = house.session(owner);
    const shared = await here.consent(sessionId, to(recipient), house.as(owner));
    expect(shared).toMatchObject({
      status: 'SHARED',
      sessionId,
      recipientAccountId: recipient,
      sharedAt: house.clock.now().toISOString(),
    });
    expect(house.bureau.asked).toHaveLength(1);
    expect(await house.credit(owner)).toEqual({ balance: 0, reserved: 0 });
    expect(await here.open(sessionId, house.as(owner))).toMatchObject({ id: shared.reportId });
  });

  it("again returns the same without an event, also in several processes at once and after the owner's 30 days", async () => {
    const owner = await house.account();
    const recipient = await house.childOf(owner);
    const sessionId = house.session(owner);
    const all = await Promise.all(
      [here, new Process(house), here].map((process) => process.consent(sessionId, to(recipient), house.as(owner))),
    );
    house.clock.pass(86_400 * 40);
    all.push(await here.consent(sessionId, to(recipient), house.as(owner)));
    expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(await house.types('share', shareIdOf(sessionId, recipient))).toEqual(['ReportShared']);
  });

  it("runs the owner's checks, and is refused when the owner would be", async () => {
    const owner = await house.account(0);
    expect(
      await conditionOf(
        here.consent(
          house.session(owner, { status: 'OTP_PENDING', overallStatus: 'OTP_PENDING' }),
          NOBODY,
          house.as(owner),
        ),
      ),
    ).toBe('report.not_completed');
    expect(await conditionOf(here.consent(house.session(owner, { userType: 'PMC' }), NOBODY, house.as(owner)))).toBe(
      'report.access_denied',
    );
    expect(await conditionOf(here.consent(house.session(owner), NOBODY, house.as(owner)))).toBe(
      'report.credit_exhausted',
    );
  });

  it('is refused for an expired report', async () => {
    const owner = await house.account();
    const recipient = await house.childOf(owner);
    const sessionId = house.session(owner);
    await here.open(sessionId, house.as(owner));
    house.clock.pass(86_400 * 30);
    expect(await conditionOf(here.consent(sessionId, to(recipient), house.as(owner)))).toBe('report.expired');
  });

  it("is allowed only to callers of the session's own account", async () => {
    const [owner, other] = [await house.account(), await house.account()];
    const sessionId = house.session(owner);
    for (const id of [sessionId, newId(), 'x']) {
      expect(await conditionOf(here.consent(id, NOBODY, house.as(other)))).toBe('screening.not_found');
      expect(await conditionOf(here.revoke(id, owner, house.as(other)))).toBe('screening.not_found');
    }
  });
});

describe('revoking', () => {
  it('is refused without a share, happens once, and is permanent', async () => {
    const owner = await house.account();
    const recipient = await house.childOf(owner);
    const sessionId = house.session(owner);
    expect(await conditionOf(here.revoke(sessionId, recipient, house.as(owner)))).toBe('sharing.not_found');
    const { reportId } = await here.consent(sessionId, to(recipient), house.as(owner));
    expect((await here.revoke(sessionId, recipient, house.as(owner)))[0]).toMatchObject({
      status: 'REVOKED',
      reportId,
      sessionId,
      recipientAccountId: recipient,
      revokedAt: house.clock.now().toISOString(),
    });
    expect(await conditionOf(here.revoke(sessionId, recipient, house.as(owner)))).toBe('sharing.already_revoked');
    expect(await conditionOf(here.consent(sessionId, to(recipient), house.as(owner)))).toBe('sharing.already_revoked');
    expect(await house.types('share', shareIdOf(sessionId, recipient))).toEqual(['ReportShared', 'SharingRevoked']);
  });

  it('one share leaves the others', async () => {
    const owner = await house.account();
    const [one, other] = [await house.childOf(owner), await house.childOf(owner)];
    const sessionId = house.session(owner);
    for (const recipient of [one, other]) await here.consent(sessionId, to(recipient), house.as(owner));
    await here.revoke(sessionId, one, house.as(owner));
    expect(await conditionOf(here.open(sessionId, house.as(one)))).toBe('sharing.revoked');
    expect(await conditionOf(here.open(sessionId, house.as(other)))).toBe('done');
  });

  it('all shares includes each share of the report, also when none is listed', async () => {
    const owner = await house.account();
    const recipients = [await house.childOf(owner), await house.childOf(owner), owner];
    const sessionId = house.session(owner);
    for (const recipient of recipients) await here.consent(sessionId, to(recipient), house.as(owner));
    const revoked = await here.revokeAll(sessionId, [], house.as(owner));
    expect(revoked.map(({ recipientAccountId }) => recipientAccountId).sort()).toEqual([...recipients].sort());
    expect(await conditionOf(here.revokeAll(sessionId, [], house.as(owner)))).toBe('sharing.already_revoked');
  });

  it('all shares includes a listed share that is not registered, but none of another report', async () => {
    const owner = await house.account();
    const [recipient, other] = [await house.childOf(owner), house.session(owner)];
    await here.consent(other, to(recipient), house.as(owner));
    const sessionId = house.session(owner);
    const listedIds = [shareIdOf(other, recipient)];
    expect(await conditionOf(here.revokeAll(sessionId, listedIds, house.as(owner)))).toBe('sharing.not_found');
    expect(await house.types('share', shareIdOf(other, recipient))).toEqual(['ReportShared']);
    // The share as releases without a register stored it.
    const earlier = shareIdOf(sessionId, recipient);
    const { reportId } = await here.consent(other, to(recipient), house.as(owner));
    await here.aggregates.execute(
      share,
      earlier,
      {
        kind: 'share',
        now: house.clock.now(),
        reportId,
        sessionId,
        recipientAccountId: recipient,
        purpose: 'TENANT_SCREENING',
        windowSeconds: null,
      },
      house.as(owner),
    );
    expect(await here.revokeAll(sessionId, [...listedIds, earlier], house.as(owner))).toMatchObject([{ sessionId }]);
    expect(await house.types('share', shareIdOf(other, recipient))).toEqual(['ReportShared']);
  });
});

describe('the recipient', () => {
  it('is the one that the grant of the token or session names, whatever the page says', async () => {
    const [owner, granted, page] = [await house.account(), await house.account(), await house.account()];
    const grantId = newId();
    house.grants.known.set(grantId, {
      grantId,
      accountId: owner,
      environment: 'test',
      recipientAccountId: granted,
      userType: null,
      endUserType: null,
      applicationFeeCents: null,
    });
    expect(
      await here.consent(house.session(owner), { grantId, recipientAccountId: page }, house.as(owner)),
    ).toMatchObject({ recipientAccountId: granted });
    expect(
      await here.consent(house.session(owner, { intendedRecipientId: granted }), to(page), house.as(owner)),
    ).toMatchObject({ recipientAccountId: granted });
  });

  it("is the one that the page names if no grant does, and otherwise the session's own account", async () => {
    const [owner, page] = [await house.account(), await house.account()];
    const grantId = newId();
    house.grants.known.set(grantId, {
      grantId,
      accountId: owner,
      environment: 'test',
      recipientAccountId: null,
      userType: null,
      endUserType: null,
      applicationFeeCents: null,
    });
    expect(
      await here.consent(house.session(owner), { grantId, recipientAccountId: page }, house.as(owner)),
    ).toMatchObject({ recipientAccountId: page });
    expect(
      await here.consent(house.session(owner), { grantId, recipientAccountId: null }, house.as(owner)),
    ).toMatchObject({ recipientAccountId: owner });
    expect(
      await here.consent(house.session(owner), { grantId: newId(), recipientAccountId: null }, house.as(owner)),
    ).toMatchObject({ recipientAccountId: owner });
  });

  it('without a grant is the own account, its parent or a direct child, and no other account', async () => {
    const parent = await house.account();
    const owner = await house.account(null, { parentId: parent });
    const child = await house.childOf(owner);
    const sibling = await house.childOf(parent);
    const grandchild = await house.childOf(child);
    for (const recipient of [owner, parent, child])
      expect(await here.consent(house.session(owner), to(recipient), house.as(owner))).toMatchObject({
        recipientAccountId: recipient,
      });
    for (const recipient of [sibling, grandchild, await house.account()])
      expect(await conditionOf(here.consent(house.session(owner), to(recipient), house.as(owner)))).toBe(
        'request.forbidden',
      );
  });

  it('must be an account', async () => {
    const owner = await house.account();
    for (const recipient of [newId(), 'x', '../../x']) {
      await expect(here.consent(house.session(owner), to(recipient), house.as(owner))).rejects.toMatchObject({
        code: 'request.invalid',
        detail: { field: 'share.recipient' },
      });
    }
    expect(house.bureau.asked).toEqual([]);
  });
});

describe('the published events of a share', () => {
  it("report the share and its end to the session's account, with exactly the documented fields", async () => {
    const owner = await house.account();
    const recipient = await house.childOf(owner);
    const sessionId = house.session(owner);
    const { reportId } = await here.consent(sessionId, to(recipient), house.as(owner));
    house.clock.pass(5);
    const [{ revokedAt }] = await here.revoke(sessionId, recipient, house.as(owner));
    const history = await house.store.readStream(`share-${shareIdOf(sessionId, recipient)}`);
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
