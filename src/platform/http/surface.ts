// An API surface is a value: its paths, who may call them, and how everything is said there. `src/surfaces/` has a file each.
import type { Type } from '@nestjs/common';
import type { DocumentBuilder } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { DomainError, DomainErrorDetail } from '../../kernel/domain-error.js';
import type { CommonErrorCode, ErrorCode } from '../../kernel/error-codes.js';
import type { FieldName } from '../../kernel/field-names.js';
import type { Authenticator } from './authenticator.js';

type SecurityScheme = Parameters<DocumentBuilder['addSecurity']>[1];

/** What pages of other origins may do. Every origin may read every reply; what it may do is for the authenticator to say. */
export interface CorsRule {
  readonly methods: readonly string[];
  readonly requestHeaders: readonly string[];
  readonly replyHeaders: readonly string[];
  readonly preflightSeconds: number;
}

export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A text is JSON, to be sent as it is. */
  readonly body: object | string;
}

/** An entry, or how it follows from what the error says of itself. Documents show what follows from nothing. */
export type Said<Entry> = Entry | ((detail: DomainErrorDetail) => Entry);

interface AnyEntry {
  readonly status: number;
  /** When the caller is to come back where the error itself does not say. */
  readonly retryAfterSeconds?: number;
}

/** Where an error is said. */
export interface SaidAt {
  /** Of the area that the path belongs to. */
  readonly prefix: string;
  readonly requestId: string;
}

/** How a surface says each error code. `Entry` is its own: a string code, a number, whatever its envelope needs. */
export interface ErrorVocabulary<Entry extends AnyEntry> {
  readonly errors: Readonly<Record<CommonErrorCode, Said<Entry>>> & Readonly<Partial<Record<ErrorCode, Said<Entry>>>>;
  readonly fields: Readonly<Record<FieldName, string>>;
  /** The body of an error reply, or its JSON text. The detail names fields as on the wire. */
  readonly envelope: (entry: Entry, detail: DomainErrorDetail, at: SaidAt) => object | string;
  /** Describes that body in OpenAPI documents. */
  readonly errorResult: Type;
  /** What integrators read of them: how an error looks, and of each entry the columns, by their heads. */
  readonly about: readonly string[];
  readonly columns: Readonly<Record<string, (entry: Entry) => string>>;
  /** What they read below the table. */
  readonly appendix?: readonly string[];
}

interface Whole {
  readonly name: string;
  /** Judges the callers of its routes, before their bodies are read; null lets everybody in. A route may name another one. */
  readonly authenticator: Type<Authenticator> | null;
  /** Null: pages of other origins have no business here. */
  readonly cors: CorsRule | null;
  /** Surfaces that name the same document are described together. */
  readonly document: {
    readonly name: string;
    readonly title: string;
    readonly credentials: Readonly<Record<string, SecurityScheme>>;
  };
  readonly errorResult: Type;
}

export interface SurfaceDefinition<Entry extends AnyEntry> extends Whole, ErrorVocabulary<Entry> {
  /** The paths below which the surface answers, each with the error codes that are said differently there. */
  readonly prefixes: Readonly<Record<`/${string}`, Partial<Record<ErrorCode, Said<Entry>>>>>;
}

export interface Surface extends Whole {
  readonly areas: readonly Area[];
  /** Identifies the vocabulary that several surfaces may share. */
  readonly errors: object;
  readonly about: readonly string[];
  readonly headings: readonly string[];
  readonly appendix: readonly string[];
}

/** What lies below one prefix of a surface. */
export interface Area {
  readonly prefix: string;
  readonly reply: (error: DomainError, requestId: string) => ErrorReply;
  /** Of the generated document: each code that is said here, or that is said differently here, with its columns. */
  readonly told: (special: boolean) => readonly (readonly [ErrorCode, readonly string[]])[];
}

export function defineSurface<Entry extends AnyEntry>({
  prefixes,
  errors,
  fields,
  envelope,
  columns,
  appendix = [],
  ...whole
}: SurfaceDefinition<Entry>): Surface {
  // A name that is no field of the domain comes from a body class of the surface, which has the names of the wire.
  const wireName = (field: string): string => (fields as Readonly<Record<string, string>>)[field] ?? field;
  const onWire = ({ details, ...rest }: DomainErrorDetail): DomainErrorDetail => {
    const field = rest.field ?? rest.vendor?.reply.field ?? undefined;
    return {
      ...rest,
      ...(field !== undefined && { field: wireName(field) }),
      ...(details && { details: details.map((detail) => ({ ...detail, field: wireName(detail.field) })) }),
    };
  };
  const areas = Object.entries(prefixes).map(([prefix, special]): Area => {
    const entries: Partial<Record<ErrorCode, Said<Entry>>> = { ...errors, ...special };
    // A code that the surface has no words for is a fault there.
    const entryOf = (code: ErrorCode, detail: DomainErrorDetail, of = entries): Entry => {
      const said = of[code] ?? errors['service.failure'];
      return typeof said === 'function' ? said(detail) : said;
    };
    return {
      prefix,
      reply: ({ code, detail }, requestId) => {
        const told = onWire(detail);
        const entry = entryOf(code, told);
        const retryAfterSeconds = detail.retryAfterSeconds ?? entry.retryAfterSeconds;
        return {
          status: entry.status,
          headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
          body: envelope(entry, told, { prefix, requestId }),
        };
      },
      told: (onlySpecial) =>
        (Object.keys(onlySpecial ? special : errors) as ErrorCode[]).map((code) => [
          code,
          Object.values(columns).map((column) => column(entryOf(code, {}, onlySpecial ? entries : errors))),
        ]),
    };
  });
  return { ...whole, areas, errors, headings: Object.keys(columns), appendix };
}

/** All surfaces of the service. The one place that decides which of them a path belongs to. */
export class Surfaces {
  /** The longest prefix first. */
  private readonly areas: readonly (readonly [Surface, Area])[];
  /** For what belongs to no other. */
  private readonly rest: readonly [Surface, Area];

  /** One of them must have the prefix `/`. */
  constructor(readonly all: readonly Surface[]) {
    this.areas = all
      .flatMap((surface) => surface.areas.map((area) => [surface, area] as const))
      .sort(([, one], [, other]) => other.prefix.length - one.prefix.length);
    const rest = this.areas.at(-1);
    if (rest?.[1].prefix !== '/') throw new Error('No surface has the prefix /');
    this.rest = rest;
  }

  /** By the route, whatever way its path was written; by the path where there is no route. */
  of({ routeOptions, url }: Pick<FastifyRequest, 'routeOptions' | 'url'>): Surface {
    return this.at(routeOptions.url ?? url);
  }

  at(path: string): Surface {
    return this.find(path)[0];
  }

  /** The answer to a request that is refused. */
  reply(
    error: DomainError,
    request: { readonly id: string; readonly url: string; readonly routeOptions?: { url?: string | undefined } },
  ): ErrorReply {
    return this.find(request.routeOptions?.url ?? request.url)[1].reply(error, request.id);
  }

  private find(url: string): readonly [Surface, Area] {
    const path = `${url.split('?', 1)[0]}/`;
    return this.areas.find(([, { prefix }]) => path.startsWith(`${prefix}/`)) ?? this.rest;
  }
}
