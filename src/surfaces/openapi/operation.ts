// An operation of an API is a value beside its route: its name, bodies and errors. The documents are made of these values.
import { applyDecorators, Header, HttpCode, type Type } from '@nestjs/common';
import { ApiBody, ApiExtension, ApiExtraModels, ApiOperation, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '../../kernel/error-codes.js';

/** A reply: a class, a list of one, the classes by media type, or no body. `text` and `bytes` are for media types other than JSON. */
type Answer = Type | readonly [Type] | Readonly<Record<`${string}/${string}`, Type | 'text' | 'bytes'>> | null;

export interface OperationValue {
  /** Unique among all documents. The routes of a handler with several paths get their ids from a function of the path. */
  readonly id: string | ((path: string) => string);
  /** One line. */
  readonly summary: string;
  /** Effects, costs and the next step, for callers. */
  readonly description: string;
  readonly body?: Type;
  readonly bodyIsOptional?: true;
  /** The class that checks the query. */
  readonly query?: Type;
  /** By status. The first status is that of a success. */
  readonly replies: Readonly<Record<number, Answer>>;
  /** The errors of the operation itself. Those of all requests, bodies, credentials and limits follow from its route. */
  readonly errors: readonly ErrorCode[] | ((path: string) => readonly ErrorCode[]);
  /** Headers of every reply, besides those of all operations. */
  readonly headers?: readonly string[];
  /** Days (ISO 8601 UTC). The replies tell them in the headers `Deprecation` and `Sunset` (docs/contract/changes.md). */
  readonly deprecated?: { readonly since: string; readonly goneAfter: string };
}

/** An operation with the function that handles it, which has the other facts about the route. */
export interface Described {
  readonly value: OperationValue;
  readonly handler: object;
}

/** The extension of a raw document that leads to the description of an operation. */
export const OPERATION = 'x-operation';

const described: Described[] = [];

export const describedAs = (number: unknown): Described | undefined => described[number as number];

const DONE: Readonly<Record<number, string>> = {
  200: 'Done',
  201: 'Made',
  202: 'Accepted. The effect follows',
  204: 'Done; the reply has no body',
  422: 'The answer is wrong. Another one may follow. The body is that of a success',
};

/** Describes a route by its value, and sets the status of a success. */
export function Operation(value: OperationValue): MethodDecorator {
  const { summary, description, body, bodyIsOptional = false, replies, deprecated } = value;
  const [status = 200] = Object.keys(replies).map(Number).sort();
  const answers = Object.entries(replies).map(([at, answer]) =>
    applyDecorators(
      ApiExtraModels(...modelsOf(answer)),
      ApiResponse({ status: Number(at), description: DONE[Number(at)] ?? 'Done', ...contentOf(answer) }),
    ),
  );
  return (target, name, descriptor: PropertyDescriptor) => {
    const number = described.push({ value, handler: descriptor.value as object }) - 1;
    applyDecorators(
      HttpCode(status),
      ApiOperation({ summary, description: description + whenGone(deprecated), deprecated: deprecated !== undefined }),
      ...(deprecated ? [Header('deprecation', sinceOf(deprecated)), Header('sunset', endOf(deprecated))] : []),
      ApiExtension(OPERATION, number),
      ...(body ? [ApiBody({ type: body, required: !bodyIsOptional })] : []),
      ...answers,
    )(target, name, descriptor);
  };
}

function whenGone(deprecated: OperationValue['deprecated']): string {
  return deprecated ? ` Deprecated since ${deprecated.since}; it may be gone after ${deprecated.goneAfter}.` : '';
}

/** RFC 9745. */
function sinceOf({ since }: NonNullable<OperationValue['deprecated']>): string {
  return `@${Date.parse(since) / 1_000}`;
}

/** RFC 8594: the end of the last day. */
function endOf({ goneAfter }: NonNullable<OperationValue['deprecated']>): string {
  return new Date(`${goneAfter}T23:59:59Z`).toUTCString();
}

type Content = Readonly<Record<string, { readonly schema: object }>>;

function contentOf(answer: Answer): { readonly content?: Content } {
  if (answer === null) return {};
  if (Array.isArray(answer)) {
    const [of] = answer as readonly [Type];
    return { content: { 'application/json': { schema: { type: 'array', items: reference(of) } } } };
  }
  if (typeof answer === 'function') return { content: { 'application/json': { schema: reference(answer) } } };
  return {
    content: Object.fromEntries(
      Object.entries(answer).map(([type, said]) => [
        type,
        { schema: typeof said === 'function' ? reference(said) : said === 'text' ? { type: 'string' } : {} },
      ]),
    ),
  };
}

function modelsOf(answer: Answer): Type[] {
  if (answer === null) return [];
  if (typeof answer === 'function') return [answer];
  return Object.values(answer).filter((one): one is Type => typeof one === 'function');
}

function reference(type: Type): object {
  return { $ref: getSchemaPath(type) };
}
