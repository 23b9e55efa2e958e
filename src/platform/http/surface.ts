// An API surface is a value: its paths, its authenticator and the texts of its errors. `src/surfaces/` has one file for each.
import type { Type } from '@nestjs/common';
import type { DocumentBuilder } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { DomainError, DomainErrorDetail } from '../../kernel/domain-error.js';
import type { CommonErrorCode, ErrorCode } from '../../kernel/error-codes.js';
import type { FieldName } from '../../kernel/field-names.js';
import type { Authenticator } from './authenticator.js';

type SecurityScheme = Parameters<DocumentBuilder['addSecurity']>[1];

/** The rights of pages of other origins. Every origin may read every reply, and the authenticator decides the rest. */
export interface CorsRule {
  readonly methods: readonly string[];
  readonly requestHeaders: readonly string[];
  readonly replyHeaders: readonly string[];
  readonly preflightSeconds: number;
}

export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A text is JSON and is sent unchanged. */
  readonly body: object | string;
  /** The error code in the body. */
  readonly code: string;
}

/** An entry, or a function from the error's detail to an entry. Documents show the entry for an empty detail. */
export type Said<Entry> = Entry | ((detail: DomainErrorDetail) => Entry);

interface AnyEntry {
  readonly status: number;
  /** The time until another try, when the error itself does not give a time. */
  readonly retryAfterSeconds?: number;
}

/** The request to which an error reply belongs. */
export interface SaidAt {
  /** The prefix of the area to which the path belongs. */
  readonly prefix: string;
  readonly requestId: string;
  /** Method and path of the request, as the caller wrote them. */
  readonly asked: string;
  /** The address of the documents; null if no documents are served. */
  readonly docsUrl: string | null;
}

/** The texts of a surface for each error code. `Entry` is the surface's own type: a string code, a number, or the parts of its envelope. */
export interface ErrorVocabulary<Entry extends AnyEntry> {
  readonly errors: Readonly<Record<CommonErrorCode, Said<Entry>>> & Readonly<Partial<Record<ErrorCode, Said<Entry>>>>;
  readonly fields: Readonly<Record<FieldName, string>>;
  /** The body of an error reply, or its JSON text. The detail uses the wire names of fields. */
  readonly envelope: (entry: Entry, detail: DomainErrorDetail, at: SaidAt) => object | string;
  /** The code of the entry, in its wire form. */
  readonly codeOf: (entry: Entry) => string;
  /** Further headers of an error reply. */
  readonly headers?: (entry: Entry, detail: DomainErrorDetail, prefix: string) => Readonly<Record<string, string>>;
  /** Describes that body in OpenAPI documents. */
  readonly errorResult: Type;
  /** The documentation for integrators: the form of an error, and the columns of each entry after its code, by their headings. */
  readonly about: readonly string[];
  readonly columns: Readonly<Record<string, (entry: Entry) => string>>;
  /** The text below the table. */
  readonly appendix?: readonly string[];
}

interface Whole {
  readonly name: string;
  /** Authenticates callers of its routes before their bodies are read; null accepts every caller. A route may name another authenticator. */
  readonly authenticator: Type<Authenticator> | null;
  /** With null, pages of other origins have no access. */
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
  /** The path prefixes of the surface, each with the error codes that have other texts there. */
  readonly prefixes: Readonly<Record<`/${string}`, Partial<Record<ErrorCode, Said<Entry>>>>>;
}

export interface Surface extends Whole {
  readonly areas: readonly Area[];
  /** Identifies the vocabulary, which several surfaces may share. */
  readonly errors: object;
  readonly about: readonly string[];
  readonly headings: readonly string[];
  readonly appendix: readonly string[];
}

/** The part of a surface below one prefix. */
export interface Area {
  readonly prefix: string;
  readonly reply: (error: DomainError, at: Omit<SaidAt, 'prefix'>) => ErrorReply;
  /** For the generated document: each code of the surface, or only the codes with other texts here, with its columns. */
  readonly told: (special: boolean) => readonly (readonly [ErrorCode, readonly string[]])[];
}

export function defineSurface<Entry extends AnyEntry>({
  prefixes,
  errors,
  fields,
  envelope,
  codeOf,
  headers = () => ({}),
  columns,
  appendix = [],
  ...whole
}: SurfaceDefinition<Entry>): Surface {
  // A name that is not a field of the domain comes from a body class of the surface, which uses wire names.
  const wireName = (field: string): string => (Object.hasOwn(fields, field) ? fields[field as FieldName] : field);
  const onWire = ({ details, ...rest }: DomainErrorDetail): DomainErrorDetail => {
    const field = rest.field ?? rest.vendor?.reply?.field ?? undefined;
    return {
      ...rest,
      ...(field !== undefined && { field: wireName(field) }),
      ...(details && { details: details.map((detail) => ({ ...detail, field: wireName(detail.field) })) }),
    };
  };
  const areas = Object.entries(prefixes).map(([prefix, special]): Area => {
    const entries: Partial<Record<ErrorCode, Said<Entry>>> = { ...errors, ...special };
    // A code without a text on the surface is a fault of the service.
    const entryOf = (code: ErrorCode, detail: DomainErrorDetail, of = entries): Entry => {
      const said = of[code] ?? errors['service.failure'];
      return typeof said === 'function' ? said(detail) : said;
    };
    return {
      prefix,
      reply: ({ code, detail }, at) => {
        const told = onWire(detail);
        const entry = entryOf(code, told);
        const retryAfterSeconds = detail.retryAfterSeconds ?? entry.retryAfterSeconds;
        return {
          status: entry.status,
          headers: {
            ...headers(entry, told, prefix),
            ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
          },
          body: envelope(entry, told, { prefix, ...at }),
          code: codeOf(entry),
        };
      },
      told: (onlySpecial) =>
        (Object.keys(onlySpecial ? special : errors) as ErrorCode[]).map((code) => {
          const entry = entryOf(code, {}, onlySpecial ? entries : errors);
          return [code, [`\`${codeOf(entry)}\``, ...Object.values(columns).map((column) => column(entry))]];
        }),
    };
  });
  return { ...whole, areas, errors, headings: ['Code', ...Object.keys(columns)], appendix };
}

/** A refused request, with the parts that were read. */
type Refused = Pick<FastifyRequest, 'id' | 'url'> &
  Partial<Pick<FastifyRequest, 'method' | 'originalUrl'>> & { readonly routeOptions?: { url?: string | undefined } };

/** All surfaces of the service. Only this class decides to which surface a path belongs. */
export class Surfaces {
  /** The longest prefix is first. */
  private readonly areas: readonly (readonly [Surface, Area])[];
  /** The surface for paths that belong to no other area. */
  private readonly rest: readonly [Surface, Area];

  /** One of the surfaces must have the prefix `/`. */
  constructor(
    readonly all: readonly Surface[],
    private readonly docsUrl: string | null = null,
  ) {
    this.areas = all
      .flatMap((surface) => surface.areas.map((area) => [surface, area] as const))
      .sort(([, one], [, other]) => other.prefix.length - one.prefix.length);
    const rest = this.areas.at(-1);
    if (rest?.[1].prefix !== '/') throw new Error('No surface has the prefix /');
    this.rest = rest;
  }

  /** The surface of the route, for every spelling of its path. Without a route, the surface of the path. */
  of({ routeOptions, url }: Pick<FastifyRequest, 'routeOptions' | 'url'>): Surface {
    return this.at(routeOptions.url ?? url);
  }

  at(path: string): Surface {
    return this.find(path)[0];
  }

  /** The same surfaces, whose errors link to these documents. */
  documentedAt(docsUrl: string | null): Surfaces {
    return new Surfaces(this.all, docsUrl);
  }

  /** The answer to a refused request. */
  reply(error: DomainError, { id, url, method = '', originalUrl = url, routeOptions }: Refused): ErrorReply {
    const asked = `${method} ${originalUrl.split('?', 1)[0]}`;
    return this.find(routeOptions?.url ?? url)[1].reply(error, { requestId: id, asked, docsUrl: this.docsUrl });
  }

  private find(url: string): readonly [Surface, Area] {
    const path = `${url.split('?', 1)[0]}/`;
    return this.areas.find(([, { prefix }]) => path.startsWith(`${prefix}/`)) ?? this.rest;
  }
}
