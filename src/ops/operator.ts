// The parts that every operator command uses: the operator's context, the input, and the message of a fault.
import { userInfo } from 'node:os';
import { isId, newId } from '../kernel/ids.js';
import { DomainError } from '../kernel/domain-error.js';
import { Unavailable } from '../kernel/unavailable.js';
import type { ActionContext } from '../kernel/context.js';
import { EventLogDamaged, LogRefused } from '../ports/event-store.js';
import { VaultMisconfigured } from '../ports/vault.js';
import { endTable } from './output.js';

/** The operator's input is wrong. The message is one sentence that says how to correct the input. */
export class WrongInput extends Error {
  override readonly name = 'WrongInput';
}

/** Recorded outside production when the operator gives no reason or no purpose. */
export const NO_REASON = 'none given outside production';

/** The person at the command line: `OPERATOR`, or else the system user. `reason` and `ticket` are recorded with every event of the command. */
export function operatorContext(reason?: string, ticket?: string): ActionContext {
  const correlationId = newId();
  return {
    accountId: null,
    environment: null,
    actor: { kind: 'operator', id: operatorName() },
    correlationId,
    causationId: correlationId,
    ...(reason !== undefined && { reason }),
    ...(ticket !== undefined && { ticket }),
  };
}

/** Ends the command when the reader of the results closes the pipe, as `head` does. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

/** Reports the progress of a long walk on stderr, at most every few seconds. Short walks report nothing. */
export class Progress {
  private toldAt = performance.now();

  told(sentence: () => string): void {
    if (performance.now() - this.toldAt < PROGRESS_EVERY_MS) return;
    this.toldAt = performance.now();
    process.stderr.write(`${sentence()}\n`);
  }
}

const PROGRESS_EVERY_MS = 3_000;

/** Prints a fault on stderr in one sentence, or a bug with its stack, and sets exit code 1. */
export function tell(error: unknown): void {
  process.exitCode = 1;
  endTable();
  process.stderr.write(`${sentenceOf(error)}\n`);
}

function sentenceOf(error: unknown): string {
  if (error instanceof WrongInput || error instanceof VaultMisconfigured) return error.message;
  if (error instanceof EventLogDamaged) return `${error.message}. \`ops audit verify\` shows all faults of the log.`;
  if (error instanceof LogRefused) return error.message;
  if (error instanceof Unavailable)
    return 'The event store, the vault or Redis cannot be reached. The change may or may not have been made.';
  if (error instanceof DomainError) return sentenceOfRefusal(error);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function sentenceOfRefusal(error: DomainError): string {
  const { field, details } = error.detail;
  if (error.code === 'service.read_only')
    return 'This is a restored copy that can only be read; ops backup release <folder> --ledger <file> --reason <text> makes it an ordinary one.';
  if (error.code === 'request.not_found' || error.code === 'screening.not_found')
    return `There is no such ${field ?? 'thing'}.`;
  return details?.[0]?.message ?? `This was refused: ${error.code}.`;
}

const MAX_LINE_LENGTH = 200;

/** A reason or a purpose in the operator's words. */
export function lineIn(text: string, option: string): string {
  const line = text.trim();
  if (line === '' || line.length > MAX_LINE_LENGTH || /\p{Cc}/u.test(line))
    throw new WrongInput(`${option} must be a line of 1 to ${MAX_LINE_LENGTH} characters.`);
  return line;
}

export function ticketIn(text: string): string {
  if (!/^[\w.#/-]{1,64}$/.test(text))
    throw new WrongInput('--ticket must be 1 to 64 letters, digits or the characters . _ # / -');
  return text;
}

/** A time with its zone, so that it means the same everywhere. */
export function timeIn(text: string, option: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime()) || !/(Z|[+-]\d{2}:?\d{2})$/.test(text))
    throw new WrongInput(`${option} must be an ISO 8601 time with a zone, such as 2026-01-31T12:00:00Z.`);
  return time;
}

export function idIn(text: string | undefined, what: 'account' | 'hold' | 'key' | 'session' | 'token'): string {
  if (text === undefined || !isId(text))
    throw new WrongInput(`The ${what} must be an id such as 01234567-89ab-7cde-8f01-23456789abcd.`);
  return text;
}

export function oneOf<Value extends string>(text: string, values: readonly Value[], option: string): Value {
  const value = values.find((candidate) => candidate === text);
  if (value === undefined) throw new WrongInput(`${option} must be one of ${values.join(', ')}.`);
  return value;
}

export function yesOrNo(text: string, option: string): boolean {
  return oneOf(text, ['yes', 'no'], option) === 'yes';
}

export function wholeNumber(text: string, option: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new WrongInput(`${option} must be a whole number.`);
  return Number(text);
}

/** The word with which an operator clears a value. The parser of options treats a null as a missing value. */
export const NONE = 'none';
export type OrNone<Value> = Value | typeof NONE;

export function orNull<Value>(value: OrNone<Value>): Value | null {
  return value === NONE ? null : value;
}

export function listIn(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export const OPERATOR_NAME = /^[\w.@+-]{1,64}$/;

function operatorName(): string {
  const { OPERATOR: name } = process.env;
  if (name === undefined || name === '') return systemUser();
  if (!OPERATOR_NAME.test(name))
    throw new WrongInput('OPERATOR must be 1 to 64 letters, digits or the characters . _ @ + -');
  return name;
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user id that has no name.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
