// Structured logs without personal data. The logger gets no bodies, headers or query strings. Fields that slip in are redacted by name.
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, pino, type Logger, type LoggerOptions } from 'pino';

export type Log = Logger;
/** The injection token. */
export const Log = Symbol('Log');

/** Headers of requests. The names of headers need brackets in the path of a redaction. */
const SECRET_HEADERS = ['x-api-key', 'x-secret-key', 'x-publishable-key', 'x-session-token'].map(
  (name) => `["${name}"]`,
);

const PERSONAL_FIELDS = [
  'firstName',
  'middleName',
  'lastName',
  'dateOfBirth',
  'dob',
  'ssn',
  'phoneNumber',
  'email',
  'currentAddress',
  'currentCity',
  'currentZip',
  'unitAddress',
  'ipAddress',
  'jscPayload',
  'hdimPayload',
  'otp',
  'answers',
  'kbaAnswers',
  'authorization',
  'cookie',
  'token',
  'userToken',
  'UserToken',
  'secret',
  'apiKey',
  'password',
  'vendorSession',
  'personToken',
  'authSession',
  'reply',
  'references',
];

export function createLog(level: string, role: string, output: DestinationStream): Log {
  const options: LoggerOptions = {
    level,
    base: { service: 'screening', role, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    // `code` is a one-time code in a body, but the kind of a fault in an error.
    redact: {
      paths: [
        'code',
        'body.code',
        ...PERSONAL_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        ...SECRET_HEADERS.flatMap((header) => [header, `*${header}`, `*.*${header}`]),
      ],
      censor: '[redacted]',
    },
    serializers: { err: describeError },
  };
  return pino(options, output);
}

/** The kind and location of a fault. */
export function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const [, ...frames] = (error.stack ?? '')
    .split('\n')
    .filter((line, index) => index === 0 || line.trimStart().startsWith('at '));
  return {
    type: error.name,
    code: (error as { code?: unknown }).code,
    message: error instanceof SyntaxError ? undefined : masked(error.message).slice(0, 300),
    stack: frames.slice(0, 12).map((frame) => frame.trim()),
    ...(error.cause instanceof Error ? { cause: describeError(error.cause) } : {}),
  };
}

const UUID = '(?<![\\da-z])[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}(?![\\da-z])';
/** Texts that cannot be a person's number: ids of the service and the processor, positions of the log, sizes and times with their unit, addresses. */
const KEPT = [
  UUID,
  '(?<![\\da-z])(?:evt|pi|cs|ch|re|req)_(?![\\da-z]*\\d{7})[\\da-z]{14,}',
  '(?<!\\d)0{4}\\d{16}(?!\\d)',
  '(?<![\\d.-])\\d+(?= (?:of \\d+ )?(?:bytes|events|ms)\\b)',
  '(?<![\\d.])\\d{1,3}(?:\\.\\d{1,3}){3}(?::\\d{1,5})?(?![\\d.])',
];
/** Social security, telephone and card numbers with any separators, dates, and every longer run of digits, which could be a code. */
const PERSONAL = [
  `\\d(?:[ .()/-]{0,2}(?!${UUID})\\d){6,}`,
  '\\d{1,4}(?<separator>[-/])\\d{1,2}\\k<separator>\\d{1,4}',
  '\\d{1,2}\\.\\d{1,2}\\.\\d{4}',
  '\\d{4,}',
];
const NUMBERS = new RegExp(`(?<kept>${KEPT.join('|')})|${PERSONAL.join('|')}`, 'gi');

/** A text of any origin, in which every number that could be a person's is masked. */
export function masked(text: string): string {
  return text.replace(NUMBERS, (_, kept: string | undefined) => kept ?? '#');
}

/** Nest's own messages in the same log. */
export class NestLog implements LoggerService {
  constructor(private readonly target: Log) {}

  log(message: unknown, context?: unknown): void {
    this.target.debug({ context }, String(message));
  }

  warn(message: unknown, context?: unknown): void {
    this.target.warn({ context }, masked(String(message)));
  }

  error(message: unknown, ...rest: unknown[]): void {
    // An error at boot is also thrown, and main.ts reports it.
    if (rest.at(-1) === 'ExceptionHandler') return;
    this.target.error(
      { err: message instanceof Error ? message : undefined, context: rest.at(-1) },
      message instanceof Error ? message.name : masked(String(message)),
    );
  }
}
