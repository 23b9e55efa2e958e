// Approvals by a second operator: the options of the commands that need one, the check, and the files of keys and approvals.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { Option } from 'nest-commander';
import { Clock } from '../kernel/clock.js';
import type { ActionContext } from '../kernel/context.js';
import {
  KEYS,
  needsApproval,
  operatorKeys,
  type ActApproval,
  type ActRequest,
  type ApprovedAct,
  type OperatorKeysCommand,
  type OperatorKeysState,
  type PresentedApproval,
} from '../modules/operators/domain/operator-keys.js';
import { GroupedStream } from '../platform/aggregates/grouped-stream.js';
import { EventStore } from '../ports/event-store.js';
import { ConsentedCommand, type ConsentValues } from './consent.js';
import { WrongInput } from './operator.js';

export interface ApprovalValues extends ConsentValues {
  readonly approvedBy?: string;
  readonly approval?: string;
}

/** A command that a second operator approves. */
export abstract class ApprovedCommand extends ConsentedCommand {
  @Option({ flags: '--approved-by <name>', description: 'the operator who approved this' })
  readApprovedBy(text: string): string {
    return text;
  }

  @Option({ flags: '--approval <file>', description: 'the output of ops operators sign; - for standard input' })
  readApproval(text: string): string {
    return text;
  }
}

@Injectable()
export class OperatorApprovals {
  private readonly streams: GroupedStream;

  constructor(
    events: EventStore,
    private readonly clock: Clock,
  ) {
    this.streams = new GroupedStream(events, clock, { appendConflict: () => undefined });
  }

  /**
   * Checks the approval of the act, and records its use, so that it cannot be used again. Called before the act. `context` is the context of the
   * act. Throws a DomainError or WrongInput that says what to do.
   */
  async use(
    { act, subject }: { readonly act: ApprovedAct; readonly subject: string },
    values: ApprovalValues,
    context: ActionContext,
  ): Promise<void> {
    const approved = this.presented(act, subject, values, context);
    if (approved === null) throw new WrongInput(needsApproval(act, subject));
    await this.change({ kind: 'use-approval', approved }, context);
  }

  /** The approval that the options name; null if they name none. */
  presented(
    act: ApprovedAct,
    subject: string,
    { approvedBy, approval: file }: ApprovalValues,
    { actor, reason }: ActionContext,
  ): PresentedApproval | null {
    if (approvedBy === undefined && file === undefined) return null;
    if (approvedBy === undefined || file === undefined) throw new WrongInput('Give --approved-by with --approval.');
    const approval = approvalIn(file);
    if (approval.approvedBy !== approvedBy)
      throw new WrongInput(`The approval is by ${approval.approvedBy}, and not by ${approvedBy}.`);
    return { approval, act, subject, reason, by: actor.id, now: this.clock.now() };
  }

  async keys(): Promise<OperatorKeysState['keys']> {
    return (await this.streams.load(operatorKeys, KEYS)).state.keys;
  }

  async change(command: OperatorKeysCommand, context: ActionContext): Promise<void> {
    await this.streams.execute(operatorKeys, KEYS, command, context);
  }

  /** The operator whose present key is in the file, and the key. */
  async signer(path: string): Promise<{ readonly name: string; readonly key: KeyObject }> {
    const key = privateKeyIn(path);
    const own = publicPartOf(key);
    const found = (await this.keys()).find(({ publicKey }) => publicKey === own);
    if (found === undefined) throw new WrongInput('The key of --key belongs to no operator: ops operators list.');
    return { name: found.operator, key };
  }
}

/** The 32 bytes of RFC 8032 in base64. */
export function publicPartOf(key: KeyObject): string {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return Buffer.from(x, 'base64url').toString('base64');
}

function privateKeyIn(path: string): KeyObject {
  let key;
  try {
    if ((statSync(path).mode & 0o077) !== 0)
      throw new WrongInput(`Only you may read the key of --key. Run chmod 600 ${path}.`);
    key = createPrivateKey(readFileSync(path));
  } catch (error) {
    if (error instanceof WrongInput) throw error;
    throw new WrongInput('--key must be the file of a key that ops operators add wrote.');
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new WrongInput('--key must be an Ed25519 key.');
  return key;
}

/** The request of a file that ops operators request wrote, and its signature. `-` is standard input. */
export function requestIn(path: string): Pick<ActApproval, 'request' | 'requestSignature'> {
  const { request, requestSignature } = fieldsIn(path);
  if (!isRequest(request) || typeof requestSignature !== 'string')
    throw new WrongInput('The request must be a file that ops operators request wrote.');
  return { request, requestSignature };
}

function approvalIn(path: string): ActApproval {
  const { request, requestSignature, approvedBy, approvalSignature } = fieldsIn(path);
  const isWhole =
    isRequest(request) && [requestSignature, approvedBy, approvalSignature].every((one) => typeof one === 'string');
  if (!isWhole) throw new WrongInput('--approval must be a file that ops operators sign wrote.');
  return { request, requestSignature, approvedBy, approvalSignature } as ActApproval;
}

function isRequest(value: unknown): value is ActRequest {
  const names = ['requestId', 'act', 'subject', 'reason', 'requestedBy', 'expiresAt'];
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).sort().join() === names.sort().join() &&
    Object.values(value).every((one) => typeof one === 'string')
  );
}

function fieldsIn(path: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(readFileSync(path === '-' ? 0 : path, 'utf8'));
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw new WrongInput(`${path} cannot be read: ${(error as Error).message}.`);
  }
  throw new WrongInput(`${path} must have one JSON object.`);
}
