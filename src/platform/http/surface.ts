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
  readonly body: object;
}

/** How a surface says each error code. `Entry` is its own: a string code, a number, whatever its envelope needs. */
export interface ErrorVocabulary<Entry extends { readonly status: number }> {
  readonly errors: Readonly<Record<CommonErrorCode, Entry>> & Readonly<Partial<Record<ErrorCode, Entry>>>;
  readonly fields: Readonly<Record<FieldName, string>>;
  /** The body of an error reply. The detail names fields as on the wire. */
  readonly envelope: (entry: Entry, detail: DomainErrorDetail) => object;
  /** Describes that body in OpenAPI documents. */
  readonly errorResult: Type;
  /** What integrators read of them: how an error looks, and of each entry the columns, by their heads. */
  readonly about: readonly string[];
  readonly columns: Readonly<Record<string, (entry: Entry) => string>>;
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

export interface SurfaceDefinition<Entry extends { readonly status: number }> extends Whole, ErrorVocabulary<Entry> {
  /** The paths below which the surface answers, each with the error codes that are said differently there. */
  readonly prefixes: Readonly<Record<`/${string}`, Partial<Record<ErrorCode, Entry>>>>;
}

export interface Surface extends Whole {
  readonly areas: readonly Area[];
  /** Identifies the vocabulary that several surfaces may share. */
  readonly errors: object;
  readonly about: readonly string[];
  readonly headings: readonly string[];
}

/** What lies below one prefix of a surface. */
export interface Area {
  readonly prefix: string;
  readonly reply: (error: DomainError) => ErrorReply;
  /** Of the generated document: each code that is said here, or that is said differently here, with its columns. */
  readonly told: (special: boolean) => readonly (readonly [ErrorCode, readonly string[]])[];
}

export function defineSurface<Entry extends { readonly status: number }>({
  prefixes,
  errors,
  fields,
  envelope,
  columns,
  ...whole
}: SurfaceDefinition<Entry>): Surface {
  // A name that is no field of the domain comes from a body class of the surface, which has the names of the wire.
  const wireName = (field: string): string => (fields as Readonly<Record<string, string>>)[field] ?? field;
  const onWire = ({ field, details, ...rest }: DomainErrorDetail): DomainErrorDetail => ({
    ...rest,
    ...(field !== undefined && { field: wireName(field) }),
    ...(details && { details: details.map((detail) => ({ ...detail, field: wireName(detail.field) })) }),
  });
  const areas = Object.entries(prefixes).map(([prefix, special]): Area => {
    const entries: Partial<Record<ErrorCode, Entry>> = { ...errors, ...special };
    // A code that the surface has no words for is a fault there.
    const entryOf = (code: ErrorCode): Entry => entries[code] ?? errors['service.failure'];
    return {
      prefix,
      reply: ({ code, detail }) => ({
        status: entryOf(code).status,
        headers: detail.retryAfterSeconds === undefined ? {} : { 'retry-after': String(detail.retryAfterSeconds) },
        body: envelope(entryOf(code), onWire(detail)),
      }),
      told: (onlySpecial) =>
        (Object.keys(onlySpecial ? special : errors) as ErrorCode[]).map((code) => [
          code,
          Object.values(columns).map((column) =>
            column(onlySpecial ? entryOf(code) : (errors[code] ?? errors['service.failure'])),
          ),
        ]),
    };
  });
  return { ...whole, areas, errors, headings: Object.keys(columns) };
}

/** All surfaces of the service. The one place that decides which of them a path belongs to. */
export class Surfaces {
  /** The longest prefix first. */
  private readonly areas: readonly (readonly [Surface, Area])[];

  /** One of them must have the prefix `/`, for what belongs to no other. */
  constructor(readonly all: readonly Surface[]) {
    this.areas = all
      .flatMap((surface) => surface.areas.map((area) => [surface, area] as const))
      .sort(([, one], [, other]) => other.prefix.length - one.prefix.length);
  }

  /** By the route, whatever way its path was written; by the path where there is no route. */
  of({ routeOptions, url }: Pick<FastifyRequest, 'routeOptions' | 'url'>): Surface {
    return this.at(routeOptions.url ?? url);
  }

  at(path: string): Surface {
    return this.find(path)[0];
  }

  /** What the caller of a request hears of a refusal; without a request, what is heard where no surface is known. */
  reply(error: DomainError, request?: Pick<FastifyRequest, 'routeOptions' | 'url'>): ErrorReply {
    return this.find(request?.routeOptions.url ?? request?.url ?? '/')[1].reply(error);
  }

  private find(url: string): readonly [Surface, Area] {
    const path = `${url.split('?', 1)[0]}/`;
    const found = this.areas.find(([, { prefix }]) => path.startsWith(prefix === '/' ? prefix : `${prefix}/`));
    if (found === undefined) throw new Error(`No surface has the path ${path}`);
    return found;
  }
}
