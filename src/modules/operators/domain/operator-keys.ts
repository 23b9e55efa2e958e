// The keys with which operators sign, and the acts that a second operator approved.
import { createPublicKey, verify } from 'node:crypto';
import { canonicalJson } from '../../../kernel/canonical-json.js';
import { assertNever, type Decider } from '../../../kernel/decider.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';

/** The commands that need a second operator. */
export const APPROVED_ACTS = ['hold release', 'operators add', 'operators revoke'] as const;
export type ApprovedAct = (typeof APPROVED_ACTS)[number];

/** An act that one operator asks another to approve. */
export interface ActRequest {
  readonly requestId: string;
  readonly act: ApprovedAct;
  /** The id of the hold, of the case or of the operator. */
  readonly subject: string;
  readonly reason: string;
  readonly requestedBy: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

/** A request and the signatures of both operators (Ed25519, base64). */
export interface ActApproval {
  readonly request: ActRequest;
  readonly requestSignature: string;
  readonly approvedBy: string;
  readonly approvalSignature: string;
}

/** An approval that an operator presents with an act. */
export interface PresentedApproval {
  readonly approval: ActApproval;
  readonly act: ApprovedAct;
  readonly subject: string;
  readonly reason: string | undefined;
  readonly by: string;
  readonly now: Date;
}

export type OperatorKeysCommand =
  | ({ readonly kind: 'add'; readonly approved: Approved } & OperatorKey)
  | { readonly kind: 'revoke'; readonly operator: string; readonly approved: Approved }
  | { readonly kind: 'use-approval'; readonly approved: PresentedApproval };

type Approved = PresentedApproval | null;

export type OperatorKeysEvent =
  | DomainEvent<'OperatorKeyAdded', OperatorKey>
  | DomainEvent<'OperatorKeyRevoked', { readonly operator: string }>
  /** The signatures can be checked again with the keys of this stream. */
  | DomainEvent<'OperatorActApproved', ActApproval>;

/** `publicKey`: the 32 bytes of RFC 8032 in base64. */
interface OperatorKey {
  readonly operator: string;
  readonly publicKey: string;
}

export interface OperatorKeysState {
  /** The keys of the operators who can sign. */
  readonly keys: readonly OperatorKey[];
  /** Each approval is used once. */
  readonly usedRequests: readonly string[];
}

/** The one stream of operators' keys. */
export const KEYS = 'installation';

/** With fewer keys, the operators could not replace a lost one. */
const ENOUGH_TO_APPROVE = 2;

export const operatorKeys: Decider<OperatorKeysState, OperatorKeysCommand, OperatorKeysEvent> = {
  category: 'operator_keys',
  initial: { keys: [], usedRequests: [] },

  decide(command, state) {
    switch (command.kind) {
      case 'add': {
        const { operator, publicKey, approved } = command;
        if (keyOf(state, operator) !== undefined)
          throw refused(`The operator ${operator} has a key. Revoke it first: ops operators revoke ${operator}.`);
        return [
          ...byTwo(state, 'operators add', operator, approved),
          { type: 'OperatorKeyAdded', data: { operator, publicKey } },
        ];
      }
      case 'revoke': {
        const { operator, approved } = command;
        if (keyOf(state, operator) === undefined) throw refused(`The operator ${operator} has no key.`);
        return [
          ...byTwo(state, 'operators revoke', operator, approved),
          { type: 'OperatorKeyRevoked', data: { operator } },
        ];
      }
      case 'use-approval':
        return [used(state, command.approved)];
      default:
        return command satisfies never;
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'OperatorKeyAdded':
        return { ...state, keys: [...state.keys, event.data] };
      case 'OperatorKeyRevoked':
        return { ...state, keys: state.keys.filter(({ operator }) => operator !== event.data.operator) };
      case 'OperatorActApproved':
        return { ...state, usedRequests: [...state.usedRequests, event.data.request.requestId] };
      default:
        return assertNever(event, state);
    }
  },
};

/** While two other operators have keys, one operator alone can change no key. */
function byTwo(
  state: OperatorKeysState,
  act: ApprovedAct,
  operator: string,
  approved: Approved,
): readonly OperatorKeysEvent[] {
  if (approved !== null) return [used(state, { ...approved, act, subject: operator })];
  const others = state.keys.filter((key) => key.operator !== operator);
  if (others.length >= ENOUGH_TO_APPROVE) throw refused(needsApproval(act, operator));
  return [];
}

export function needsApproval(act: ApprovedAct, subject: string): string {
  return (
    `This needs a second operator. Run ops operators request "${act}" ${subject} --reason <text> --key <file>, and give the ` +
    'request to another operator for ops operators sign. Then repeat this command with --approved-by <name> --approval <file>.'
  );
}

function used(state: OperatorKeysState, presented: PresentedApproval): OperatorKeysEvent {
  const { approval, now } = presented;
  const { request, requestSignature, approvedBy, approvalSignature } = approval;
  const fault = differenceOf(presented);
  if (fault !== null) throw refused(fault);
  if (!verifies(keyOf(state, request.requestedBy), requestText(request), requestSignature))
    throw refused(`The approval was not requested with the present key of the operator ${request.requestedBy}.`);
  if (!verifies(keyOf(state, approvedBy), approvalText(approval), approvalSignature))
    throw refused(`The approval was not signed with the present key of the operator ${approvedBy}.`);
  if (keyOf(state, request.requestedBy) === keyOf(state, approvedBy))
    throw refused('Both signatures are made with one key.');
  if (!(new Date(request.expiresAt) > now)) throw refused('The approval has expired. Ask for another one.');
  if (state.usedRequests.includes(request.requestId))
    throw refused('The approval was used already. Ask for another one.');
  return { type: 'OperatorActApproved', data: approval };
}

/** How the act differs from the approved act; null if it does not. */
function differenceOf({
  approval: { request, approvedBy },
  act,
  subject,
  reason,
  by,
}: PresentedApproval): string | null {
  if (request.act !== act || request.subject !== subject)
    return `The approval is for ${request.act} ${request.subject}, and not for ${act} ${subject}.`;
  if (request.reason !== reason) return 'The approval has another reason. Give --reason as it was requested.';
  if (request.requestedBy !== by)
    return `The operator ${request.requestedBy} requested the approval, and ${by} cannot use it.`;
  if (approvedBy === by) return 'An operator cannot approve an act of their own.';
  return null;
}

/** The text that the requesting operator signs. */
export function requestText(request: ActRequest): Buffer {
  return Buffer.from(`screening-service request of an operator\n${canonicalJson(request)}`);
}

/** The text that the approving operator signs. */
export function approvalText({
  request,
  requestSignature,
  approvedBy,
}: Omit<ActApproval, 'approvalSignature'>): Buffer {
  return Buffer.from(
    `screening-service approval by an operator\n${canonicalJson({ request, requestSignature, approvedBy })}`,
  );
}

function keyOf({ keys }: OperatorKeysState, operator: string): string | undefined {
  return keys.find((key) => key.operator === operator)?.publicKey;
}

function verifies(publicKey: string | undefined, text: Buffer, signature: string): boolean {
  if (publicKey === undefined) return false;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey, 'base64').toString('base64url') };
  return verify(null, text, createPublicKey({ key: jwk, format: 'jwk' }), Buffer.from(signature, 'base64'));
}

/** The message is for the operator. */
function refused(message: string): DomainError {
  return new DomainError('request.invalid', { field: 'approval', details: [{ field: 'approval', message }] });
}
