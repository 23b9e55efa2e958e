// The acts that need two operators, and the keys of operators.
import { describe, expect, it } from '@jest/globals';
import {
  operatorKeys,
  type ActRequest,
  type OperatorKeysCommand,
  type PresentedApproval,
} from '../../../src/modules/operators/domain/operator-keys.js';
import { given } from '../../support/decider.js';
import { approvalOf, keyedOperator } from '../../support/operator-approvals.js';

const [ann, bob, cy] = ['ann', 'bob', 'cy'].map((name) => keyedOperator(name)) as [
  ReturnType<typeof keyedOperator>,
  ReturnType<typeof keyedOperator>,
  ReturnType<typeof keyedOperator>,
];
const now = new Date('2026-03-01T12:00:00.000Z');
const request: ActRequest = {
  requestId: '01234567-89ab-7cde-8f01-23456789abcd',
  act: 'hold release',
  subject: 'the-hold',
  reason: 'the matter is closed',
  requestedBy: 'ann',
  expiresAt: '2026-03-02T12:00:00.000Z',
};
const presented: PresentedApproval = {
  approval: approvalOf(request, ann, bob),
  act: 'hold release',
  subject: 'the-hold',
  reason: 'the matter is closed',
  by: 'ann',
  now,
};
const use = (changes: Partial<PresentedApproval> = {}): OperatorKeysCommand => ({
  kind: 'use-approval',
  approved: { ...presented, ...changes },
});
const signed = (changes: Partial<ActRequest>, approver = bob): PresentedApproval['approval'] =>
  approvalOf({ ...request, ...changes }, ann, approver);

/** All operators have keys. */
const withKeys = (...operators: (typeof ann)[]) =>
  given(
    operatorKeys,
    ...operators.map(({ added: { operator, publicKey } }) => ({
      type: 'OperatorKeyAdded' as const,
      data: { operator, publicKey },
    })),
  );
const refusal = (session: ReturnType<typeof withKeys>, command: OperatorKeysCommand): string => {
  try {
    void session.when(command).events;
  } catch (error) {
    return (error as { detail: { details: { message: string }[] } }).detail.details[0]?.message ?? '';
  }
  return 'not refused';
};

describe('an approval', () => {
  it('is used once, by the operator who requested it', () => {
    const after = withKeys(ann, bob).when(use());
    expect(after.events).toEqual([{ type: 'OperatorActApproved', data: presented.approval }]);
    expect(refusal(after.decided, use())).toMatch(/was used already/);
  });

  const changed = (text: string): string => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`;
  it.each<[string, RegExp, Partial<PresentedApproval>]>([
    ['another act', /is for hold release the-hold/, { act: 'operators add' }],
    ['another subject', /is for hold release the-hold/, { subject: 'another-hold' }],
    ['another reason', /has another reason/, { reason: 'because' }],
    ['no reason', /has another reason/, { reason: undefined }],
    ['another operator', /bob cannot use it/, { by: 'bob' }],
    ['its own requester as approver', /cannot approve an act of their own/, { approval: signed({}, ann) }],
    ['an approver without a key', /not signed with the present key of the operator cy/, { approval: signed({}, cy) }],
    ['the time of its end', /has expired/, { now: new Date(request.expiresAt) }],
    ['an end that is not a time', /has expired/, { approval: signed({ expiresAt: 'never' }) }],
    [
      'a later end than the signed one',
      /was not requested with the present key/,
      { approval: { ...presented.approval, request: { ...request, expiresAt: '2027-03-02T12:00:00.000Z' } } },
    ],
    [
      'a changed signature of the request',
      /was not requested with the present key/,
      { approval: { ...presented.approval, requestSignature: changed(presented.approval.requestSignature) } },
    ],
    [
      'a changed signature of the approver',
      /was not signed with the present key/,
      { approval: { ...presented.approval, approvalSignature: changed(presented.approval.approvalSignature) } },
    ],
    [
      'the name of another operator with a key',
      /not signed with the present key of the operator cy/,
      { approval: { ...presented.approval, approvedBy: 'cy' } },
    ],
  ])('is refused for %s', (what, message, changes) => {
    const operators = what.startsWith('the name') ? [ann, bob, cy] : [ann, bob];
    expect(refusal(withKeys(...operators), use(changes))).toMatch(message);
  });

  it('is refused when both operators have the same key', () => {
    const double = { ...ann, name: 'bob', added: { ...ann.added, operator: 'bob' } };
    const approval = approvalOf(request, ann, double);
    expect(refusal(withKeys(ann, double), use({ approval }))).toBe('Both signatures are made with one key.');
  });

  it('is refused after the key of one of its operators was revoked', () => {
    for (const operator of ['ann', 'bob']) {
      const { decided } = withKeys(ann, bob).when({ kind: 'revoke', operator, approved: null });
      expect(refusal(decided, use())).toMatch(new RegExp(`present key of the operator ${operator}`));
    }
  });
});

describe('the keys of operators', () => {
  const approved = (act: ActRequest['act'], subject: string): PresentedApproval => ({
    ...presented,
    approval: signed({ act, subject }),
  });

  it('are changed by one operator while fewer than two others have keys', () => {
    const session = withKeys(ann, bob);
    expect(session.when({ kind: 'revoke', operator: 'bob', approved: null }).events).toHaveLength(1);
    expect(session.when({ kind: 'revoke', operator: 'ann', approved: null }).events).toHaveLength(1);
  });

  it('are changed only with an approval while two others have keys', () => {
    const session = withKeys(ann, bob);
    expect(refusal(session, cy.added)).toMatch(
      /^This needs a second operator. Run ops operators request "operators add" cy/,
    );
    const added = session.when({ ...cy.added, approved: approved('operators add', 'cy') });
    expect(added.events.map(({ type }) => type)).toEqual(['OperatorActApproved', 'OperatorKeyAdded']);
    expect(refusal(added.decided, { kind: 'revoke', operator: 'cy', approved: null })).toMatch(
      /needs a second operator/,
    );
    const elsewhere = { ...cy.added, operator: 'dan', approved: approved('operators add', 'cy') };
    expect(refusal(session, elsewhere)).toMatch(/is for operators add cy, and not for operators add dan/);
  });

  it('have one key for each operator', () => {
    expect(refusal(withKeys(ann), ann.added)).toMatch(/The operator ann has a key/);
    expect(refusal(withKeys(ann), { kind: 'revoke', operator: 'bob', approved: null })).toBe(
      'The operator bob has no key.',
    );
  });
});
