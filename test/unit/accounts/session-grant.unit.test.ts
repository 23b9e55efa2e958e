import { describe, expect, it } from '@jest/globals';
import {
  embedderOf,
  faultOf,
  sessionGrant,
  type GrantTerms,
  type Presentation,
  type SessionGrantCommand,
  type SessionGrantEvent,
} from '../../../src/modules/accounts/domain/session-grant.js';
import { given } from '../../support/decider.js';

const TERMS: GrantTerms = {
  mintedBy: 'parent',
  onBehalfOf: 'child',
  environment: 'test',
  userType: 'CONSUMER',
  recipientAccountId: null,
  detailsSubject: null,
  tokenHash: 'hash',
  expiresAt: '2026-03-01T12:15:00.000Z',
};
const PRESENTATION: Presentation = {
  now: new Date('2026-03-01T12:00:00.000Z'),
  accountId: 'parent',
  environment: 'test',
};
const minted = (terms: Partial<GrantTerms> = {}): SessionGrantEvent => ({
  type: 'GrantMinted',
  data: { ...TERMS, ...terms },
});
const consumed: SessionGrantEvent = { type: 'GrantConsumed', data: { tokenId: 'token' } };
const consume = (presentation: Partial<Presentation> = {}): SessionGrantCommand => ({
  kind: 'consume',
  presentation: { ...PRESENTATION, ...presentation },
  tokenId: 'token',
});

describe('a session grant', () => {
  it('is minted only once', () => {
    const grant = given(sessionGrant).when({ kind: 'mint', terms: TERMS }).then(minted());
    expect(grant.state).toEqual({ status: 'open', detailsMoved: false, detailsHeld: false, session: null, ...TERMS });
    expect(() => grant.when({ kind: 'mint', terms: TERMS }).events).toThrow('request.invalid');
  });

  it('is redeemed only once', () => {
    const grant = given(sessionGrant, minted()).when(consume()).then(consumed);
    expect(grant.state).toMatchObject({ status: 'consumed' });
    grant.when(consume()).then();
  });

  it('is not redeemed when it was never minted', () => {
    given(sessionGrant).when(consume()).then();
  });

  it.each<[string, SessionGrantEvent[], Partial<Presentation>, ReturnType<typeof faultOf>]>([
    ['with a key of the account that minted it', [minted()], {}, null],
    ['with a key of the child it is for', [minted()], { accountId: 'child' }, null],
    ['until the last moment', [minted()], { now: new Date('2026-03-01T12:14:59.999Z') }, null],
    ['that does not exist', [], {}, 'NOT_FOUND'],
    ['in the other environment', [minted()], { environment: 'live' }, 'ENVIRONMENT_MISMATCH'],
    ['with a key of another account', [minted()], { accountId: 'stranger' }, 'ACCOUNT_MISMATCH'],
    ['with a key of a child it is not for', [minted({ onBehalfOf: null })], { accountId: 'child' }, 'ACCOUNT_MISMATCH'],
    ['again', [minted(), consumed], {}, 'ALREADY_CONSUMED'],
    ['when its time is over', [minted()], { now: new Date(TERMS.expiresAt) }, 'EXPIRED'],
    ['again, when its time is over', [minted(), consumed], { now: new Date(TERMS.expiresAt) }, 'ALREADY_CONSUMED'],
    ['again, with a key of another account', [minted(), consumed], { accountId: 'stranger' }, 'ACCOUNT_MISMATCH'],
  ])(
    'is checked for its time, environment and account when a caller presents it %s',
    (_, history, presentation, fault) => {
      const grant = given(sessionGrant, ...history);
      expect(faultOf(grant.state, { ...PRESENTATION, ...presentation })).toBe(fault);
      expect(grant.when(consume(presentation)).events).toEqual(fault === null ? [consumed] : []);
    },
  );

  it('records once the person under whose subject its details are kept', () => {
    const move: SessionGrantCommand = { kind: 'record-details-moved', subjectId: 'person' };
    const moved: SessionGrantEvent = { type: 'GrantDetailsEntrusted', data: { subjectId: 'person' } };
    const grant = given(sessionGrant, minted({ detailsSubject: 'details' }), consumed)
      .when(move)
      .then(moved);
    expect(grant.state).toMatchObject({ status: 'consumed', detailsSubject: 'person', detailsMoved: true });
    for (const subjectId of ['person', 'another']) grant.when({ kind: 'record-details-moved', subjectId }).then();
    for (const history of [[], [minted()]])
      given(sessionGrant, ...history)
        .when(move)
        .then();
    given(sessionGrant, moved).when(consume()).then();
  });

  it('records once that its details were erased before they moved to a person', () => {
    const erase: SessionGrantCommand = { kind: 'record-erased' };
    const erased: SessionGrantEvent = { type: 'GrantDetailsErased', data: {} };
    for (const before of [[], [consumed]]) {
      const grant = given(sessionGrant, minted({ detailsSubject: 'details' }), ...before)
        .when(erase)
        .then(erased);
      expect(grant.state).toMatchObject({
        status: before.length > 0 ? 'consumed' : 'open',
        detailsSubject: null,
        detailsMoved: false,
        session: null,
      });
      for (const command of [erase, { kind: 'record-details-moved', subjectId: 'person' }] as const)
        grant.when(command).then();
    }
    const moved: SessionGrantEvent = { type: 'GrantDetailsEntrusted', data: { subjectId: 'person' } };
    for (const history of [[], [minted()], [minted({ detailsSubject: 'details' }), moved]])
      given(sessionGrant, ...history)
        .when(erase)
        .then();
    given(sessionGrant, erased).when(consume()).then();
  });

  it("belongs to the child when it was minted on the child's behalf, and otherwise to the account that minted it", () => {
    expect([embedderOf(TERMS), embedderOf({ ...TERMS, onBehalfOf: null })]).toEqual(['child', 'parent']);
  });
});
