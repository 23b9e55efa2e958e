// Operators with keys, and the approvals that they sign.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import {
  approvalText,
  requestText,
  type ActApproval,
  type ActRequest,
  type OperatorKeysCommand,
} from '../../src/modules/operators/domain/operator-keys.js';

export interface KeyedOperator {
  readonly name: string;
  readonly privateKey: KeyObject;
  /** The command that gives the operator a key before two others have keys. */
  readonly added: Extract<OperatorKeysCommand, { kind: 'add' }>;
}

export function keyedOperator(name: string): KeyedOperator {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const added = {
    kind: 'add',
    operator: name,
    publicKey: Buffer.from(x, 'base64url').toString('base64'),
    approved: null,
  } as const;
  return { name, privateKey, added };
}

export function approvalOf(request: ActRequest, requester: KeyedOperator, approver: KeyedOperator): ActApproval {
  const requestSignature = sign(null, requestText(request), requester.privateKey).toString('base64');
  const approval = { request, requestSignature, approvedBy: approver.name };
  return {
    ...approval,
    approvalSignature: sign(null, approvalText(approval), approver.privateKey).toString('base64'),
  };
}
