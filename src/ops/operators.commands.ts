// ops operators list | add | revoke | request | sign | uses: the keys of operators, their approvals, and their uses of tools.
import { generateKeyPairSync, sign } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { Command, Option, SubCommand } from 'nest-commander';
import { machineTimeOf, type RecordedEvent } from '../kernel/domain-event.js';
import { operatorUses, USES, type OperatorUseEvent } from '../modules/operators/domain/operator-uses.js';
import {
  APPROVED_ACTS,
  approvalText,
  operatorKeys,
  KEYS,
  requestText,
  type OperatorKeysEvent,
} from '../modules/operators/domain/operator-keys.js';
import { Clock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import { EventStore } from '../ports/event-store.js';
import { CommandGroup } from './command-group.js';
import { Consent } from './consent.js';
import { limitIn } from './listing.js';
import { lineIn, OPERATOR_NAME, oneOf, operatorContext, timeIn, wholeNumber, WrongInput } from './operator.js';
import {
  ApprovedCommand,
  type ApprovalValues,
  OperatorApprovals,
  publicPartOf,
  requestIn,
} from './operator-approvals.js';
import { OperatorCommand } from './operator-command.js';
import { print, printNone, printRow } from './output.js';

const READ_TOGETHER = 1_000;
const SHOWN = 20;

@SubCommand({ name: 'list', description: 'List the operators with keys, and the revoked keys' })
export class ListOperatorsCommand extends OperatorCommand {
  constructor(private readonly events: EventStore) {
    super();
  }

  override async run(): Promise<void> {
    const stream = (await this.events.readStream(
      `${operatorKeys.category}-${KEYS}`,
    )) as RecordedEvent<OperatorKeysEvent>[];
    const rows: { operator: string; publicKey: string; addedAt: string; addedBy: string; revokedAt: string | null }[] =
      [];
    for (const { type, data, metadata } of stream) {
      const at = machineTimeOf(metadata);
      if (type === 'OperatorKeyAdded')
        rows.push({
          ...(data as { operator: string; publicKey: string }),
          addedAt: at,
          addedBy: metadata.actor.id,
          revokedAt: null,
        });
      if (type === 'OperatorKeyRevoked')
        for (const row of rows) if (row.operator === (data as { operator: string }).operator) row.revokedAt ??= at;
    }
    for (const row of rows) printRow(row, row);
    if (rows.length === 0) printNone('operators');
  }
}

interface AddValues extends ApprovalValues {
  readonly keyTo: string;
}

@SubCommand({
  name: 'add',
  arguments: '<name>',
  description: 'Make the key of an operator; the log keeps the public part, and the private part is written once',
})
export class AddOperatorCommand extends ApprovedCommand {
  constructor(
    private readonly approvals: OperatorApprovals,
    private readonly consent: Consent,
  ) {
    super();
  }

  @Option({
    flags: '--key-to <file>',
    description: 'new file for the private key, readable by you only',
    required: true,
  })
  readKeyTo(text: string): string {
    return text;
  }

  override async run([name = '']: string[], values: AddValues): Promise<void> {
    if (!OPERATOR_NAME.test(name))
      throw new WrongInput('The name must be 1 to 64 letters, digits or the characters . _ @ + -');
    const context = await this.consent.given(values, `give the operator ${name} a key`);
    const approved = this.approvals.presented('operators add', name, values, context);
    const { privateKey } = generateKeyPairSync('ed25519');
    const publicKey = publicPartOf(privateKey);
    try {
      writeFileSync(values.keyTo, privateKey.export({ format: 'pem', type: 'pkcs8' }), { flag: 'wx', mode: 0o600 });
    } catch (error) {
      throw new WrongInput(`The file of --key-to cannot be made: ${(error as Error).message}.`);
    }
    try {
      await this.approvals.change({ kind: 'add', operator: name, publicKey, approved }, context);
    } catch (error) {
      rmSync(values.keyTo);
      throw error;
    }
    print({ operator: name, publicKey, privateKeyIn: values.keyTo });
  }
}

@SubCommand({
  name: 'revoke',
  arguments: '<name>',
  description: 'Revoke the key of an operator; it signs nothing from then on',
})
export class RevokeOperatorCommand extends ApprovedCommand {
  constructor(
    private readonly approvals: OperatorApprovals,
    private readonly consent: Consent,
  ) {
    super();
  }

  override async run([name = '']: string[], values: ApprovalValues = {}): Promise<void> {
    const context = await this.consent.given(values, `revoke the key of the operator ${name}`);
    const approved = this.approvals.presented('operators revoke', name, values, context);
    await this.approvals.change({ kind: 'revoke', operator: name, approved }, context);
    print({ revokedOperator: name });
  }
}

interface SigningValues {
  readonly key: string;
}

abstract class SigningCommand extends OperatorCommand {
  @Option({ flags: '--key <file>', description: 'your private key', required: true })
  readKey(text: string): string {
    return text;
  }
}

interface RequestValues extends SigningValues {
  readonly reason: string;
  readonly hours?: number;
}

const DEFAULT_HOURS = 24;
const MAX_HOURS = 7 * 24;

@SubCommand({
  name: 'request',
  arguments: '<act> <subject>',
  description: `Print a request to approve one act on one subject: ${APPROVED_ACTS.join(', ')}`,
})
export class RequestApprovalCommand extends SigningCommand {
  constructor(
    private readonly approvals: OperatorApprovals,
    private readonly clock: Clock,
  ) {
    super();
  }

  @Option({ flags: '--reason <text>', description: 'the reason that the act will record', required: true })
  readReason(text: string): string {
    return lineIn(text, '--reason');
  }

  @Option({
    flags: '--hours <number>',
    description: `hours until it expires; default: ${DEFAULT_HOURS}, at most ${MAX_HOURS}`,
  })
  readHours(text: string): number {
    return wholeNumber(text, '--hours');
  }

  override async run(
    [act = '', subject = '']: string[],
    { reason, key: file, hours = DEFAULT_HOURS }: RequestValues,
  ): Promise<void> {
    if (hours < 1 || hours > MAX_HOURS) throw new WrongInput(`--hours must be from 1 to ${MAX_HOURS}.`);
    const { name, key } = await this.approvals.signer(file);
    const you = operatorContext().actor.id;
    if (name !== you)
      throw new WrongInput(`The key belongs to ${name}, and you are ${you}. OPERATOR names the operator.`);
    const request = {
      requestId: newId(),
      act: oneOf(act, APPROVED_ACTS, 'The act'),
      subject,
      reason,
      requestedBy: name,
      expiresAt: new Date(this.clock.now().getTime() + hours * 3_600_000).toISOString(),
    };
    print({ request, requestSignature: sign(null, requestText(request), key).toString('base64') });
  }
}

@SubCommand({
  name: 'sign',
  arguments: '<request>',
  description: 'Approve the request of another operator: shows it, and prints the approval; - reads standard input',
})
export class SignRequestCommand extends SigningCommand {
  constructor(private readonly approvals: OperatorApprovals) {
    super();
  }

  override async run([file = '']: string[], { key: path }: SigningValues): Promise<void> {
    const requested = requestIn(file);
    const { act, subject, reason, requestedBy, expiresAt } = requested.request;
    const { name, key } = await this.approvals.signer(path);
    if (name === requestedBy) throw new WrongInput('An operator cannot approve an act of their own.');
    process.stderr.write(
      `You approve ${act} ${subject}, which ${requestedBy} requested until ${expiresAt} with the reason: ${reason}\n`,
    );
    const approval = { ...requested, approvedBy: name };
    print({ ...approval, approvalSignature: sign(null, approvalText(approval), key).toString('base64') });
  }
}

interface UsesValues {
  readonly subject?: string;
  readonly by?: string;
  readonly from?: Date;
  readonly to?: Date;
  readonly limit?: number;
}

@SubCommand({
  name: 'uses',
  description: 'List which operator looked at, exported or searched which case or person, and why; the newest first',
})
export class OperatorUsesCommand extends OperatorCommand {
  constructor(private readonly events: EventStore) {
    super();
  }

  @Option({ flags: '--subject <id>', description: 'only of this session, person or account, or of this stream' })
  readSubject(text: string): string {
    return text;
  }

  @Option({ flags: '--by <name>', description: 'only of this operator' })
  readBy(text: string): string {
    return text;
  }

  @Option({ flags: '--from <time>', description: 'at this time or later (ISO 8601 with a zone)' })
  readFrom(text: string): Date {
    return timeIn(text, '--from');
  }

  @Option({ flags: '--to <time>', description: 'before this time (ISO 8601 with a zone)' })
  readTo(text: string): Date {
    return timeIn(text, '--to');
  }

  @Option({ flags: '--limit <number>', description: `number of uses, ${SHOWN} if not given, at most 1000` })
  readLimit(text: string): number {
    return limitIn(text);
  }

  override async run(_: string[], { limit = SHOWN, ...wanted }: UsesValues = {}): Promise<void> {
    let shown = 0;
    for await (const event of this.newestFirst()) {
      if (shown === limit || (wanted.from && timeOf(event) < wanted.from)) break;
      if (!isWanted(event, wanted)) continue;
      const { reason, ticket, actor } = event.metadata;
      const { tool, purpose, options, subject } = event.data;
      const told = { at: machineTimeOf(event.metadata), by: actor.id, tool };
      printRow(
        { ...told, subject, purpose, options, reason, ticket },
        { ...told, subject: subject?.id, options: options.join(' '), purpose, reason, ticket },
      );
      shown += 1;
    }
    if (shown === 0) printNone('uses');
  }

  private async *newestFirst(): AsyncIterable<RecordedEvent<OperatorUseEvent>> {
    const stream = `${operatorUses.category}-${USES}`;
    let from: number | undefined;
    do {
      const page = { direction: 'backwards', limit: READ_TOGETHER, ...(from !== undefined && { from }) } as const;
      const events = (await this.events.readStream(stream, page)) as RecordedEvent<OperatorUseEvent>[];
      yield* events;
      from = (events.at(-1)?.revision ?? 0) - 1;
    } while (from >= 0);
  }
}

function timeOf({ metadata }: RecordedEvent): Date {
  return new Date(machineTimeOf(metadata));
}

function isWanted(use: RecordedEvent<OperatorUseEvent>, { to, by, subject }: UsesValues): boolean {
  const id = use.data.subject?.id;
  return (
    (to === undefined || timeOf(use) < to) &&
    (by === undefined || use.metadata.actor.id === by) &&
    // The streams of a session end with the id of the session.
    (subject === undefined || id === subject || id?.endsWith(`-${subject}`) === true)
  );
}

@Command({
  name: 'operators',
  description: 'Operators, their keys and approvals, and their uses of tools on cases and persons',
  subCommands: [
    ListOperatorsCommand,
    AddOperatorCommand,
    RevokeOperatorCommand,
    RequestApprovalCommand,
    SignRequestCommand,
    OperatorUsesCommand,
  ],
})
export class OperatorsCommand extends CommandGroup {}
