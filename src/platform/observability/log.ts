// Structured logs. Nothing personal belongs here: bodies, headers and query strings are never handed to the logger, and
// what slips through by name is redacted.
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, pino, type Logger, type LoggerOptions } from 'pino';

export type Log = Logger;

const PERSONAL_FIELDS = [
  'firstName', 'middleName', 'lastName', 'dateOfBirth', 'dob', 'ssn', 'phoneNumber', 'email', 'currentAddress', 'currentCity', 'currentZip',
  'jscPayload', 'hdimPayload', 'otp', 'answers', 'kbaAnswers', 'authorization', 'cookie', 'token', 'secret', 'password', 'vendorSession',
];

export function createLog(level: string, role: string, output: DestinationStream): Log {
  const options: LoggerOptions = {
    level,
    base: { service: 'seed', role, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    // `code` is a one-time code in a body, but says what happened in an error.
    redact: { paths: ['code', 'body.code', ...PERSONAL_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`])], censor: '[redacted]' },
    serializers: { err: describeError },
  };
  return pino(options, output);
}

/** The kind and place of a fault. Long digit runs in its message could be somebody's number and are masked. */
export function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const [, ...frames] = (error.stack ?? '').split('\n').filter((line, index) => index === 0 || line.trimStart().startsWith('at '));
  return {
    type: error.name,
    code: (error as { code?: unknown }).code,
    message: error instanceof SyntaxError ? undefined : error.message.replace(/\d{4,}/g, '#').slice(0, 300),
    stack: frames.slice(0, 12).map((frame) => frame.trim()),
    ...(error.cause instanceof Error ? { cause: describeError(error.cause) } : {}),
  };
}

/** Nest's own messages through the same log. */
export class NestLog implements LoggerService {
  constructor(private readonly target: Log) {}

  log(message: unknown, context?: unknown): void {
    this.target.debug({ context }, String(message));
  }

  warn(message: unknown, context?: unknown): void {
    this.target.warn({ context }, String(message));
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.target.error({ err: message instanceof Error ? message : undefined, context: rest.at(-1) }, message instanceof Error ? message.name : String(message));
  }
}
