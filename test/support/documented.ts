// Holds every reply of the service against its own document. An undocumented status, code, header or field is a fault.
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Ajv2020 as Validator, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';

const require = createRequire(import.meta.url);
const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
const addFormats = require('ajv-formats') as typeof import('ajv-formats').default;

export interface Answered {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly status: number;
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Headers of HTTP itself, and those that the service sets on every reply (docs/contract/general.md#transport). */
const OF_HTTP =
  /^(?:date|connection|keep-alive|content-type|content-length|transfer-encoding|vary|cache-control|x-content-type-options|strict-transport-security|access-control-.+)$/;

interface Route {
  readonly method: string;
  readonly template: string;
  readonly pattern: RegExp;
  readonly responses: Readonly<Record<string, any>>;
}

export class Documented {
  private readonly routes: readonly Route[];
  private readonly ajv: Validator;
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(private readonly document: any) {
    this.ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats(this.ajv);
    const schemas = closed(document.components.schemas);
    this.ajv.addSchema({ ...document, components: { ...document.components, schemas } }, 'api');
    this.routes = Object.entries<any>(document.paths)
      .flatMap(([template, operations]) =>
        Object.entries<any>(operations).map(([method, { responses }]) => ({
          method: method.toUpperCase(),
          template,
          pattern: new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`),
          responses,
        })),
      )
      // A path with fewer parameters comes first.
      .sort((one, other) => parametersIn(one.template) - parametersIn(other.template));
  }

  /** The facts about a reply that the document does not have; one line each. */
  faultsOf(answered: Answered): string[] {
    const { method, status, headers, text } = answered;
    const path = answered.path.split('?', 1)[0] as string;
    const route = this.routes.find((known) => known.method === method && known.pattern.test(path));
    const body = parsed(text);
    if (route === undefined) return status < 400 || text === '' ? [] : this.faultsOfStranger(path, body);
    const name = `${method} ${route.template} ${status}`;
    const said = route.responses[status];
    note(`${name} ${codeIn(body)}`);
    if (said === undefined) return [`${name}: the status is not documented; ${text.slice(0, 200)}`];
    const [pointer, response] = said.$ref
      ? [said.$ref as string, at(this.document, said.$ref)]
      : [`#/paths/${escaped(route.template)}/${method.toLowerCase()}/responses/${status}`, said];
    const faults = this.faultsOfHeaders(headers, response);
    const type = headers['content-type']?.split(';', 1)[0];
    if (response.content === undefined) return text === '' ? faults : [...faults, `${name}: a body`];
    const content = response.content[type ?? ''];
    if (content === undefined) faults.push(`the type ${type}`);
    else if (type === 'application/json')
      faults.push(...this.faultsOfBody(`${pointer}/content/${escaped(type)}/schema`, body));
    return faults.map((fault) => `${name}: ${fault}; ${text.slice(0, 400)}`);
  }

  /** A path that is in no document, or a method that it does not take. Probes answer in a form of their own. */
  private faultsOfStranger(path: string, body: any): string[] {
    if (path.startsWith('/health/')) return [];
    const envelope = path.startsWith('/api/') ? 'NumericErrorResult' : 'ErrorResult';
    return body === undefined ? [] : this.faultsOfBody(`#/components/schemas/${envelope}`, body);
  }

  private faultsOfBody(pointer: string, body: unknown): string[] {
    const known = this.compiled.get(pointer) ?? this.ajv.compile({ $ref: `api${pointer}` });
    this.compiled.set(pointer, known);
    return known(body) ? [] : (known.errors ?? []).map(shown);
  }

  private faultsOfHeaders(headers: Answered['headers'], response: any): string[] {
    const said = new Map(
      Object.entries<any>(response.headers ?? {}).map(([name, header]) => [
        name.toLowerCase(),
        header.$ref ? at(this.document, header.$ref) : header,
      ]),
    );
    return Object.entries(headers).flatMap(([name, value]) => {
      if (OF_HTTP.test(name)) return [];
      const header = said.get(name);
      if (header === undefined) return [`the header ${name} is not documented`];
      const given = header.schema.type === 'integer' ? Number(value) : value;
      return this.ajv.validate(header.schema, given) ? [] : [`the header ${name}: ${value}`];
    });
  }
}

/** The same schemas, in which every object has only the documented fields. */
function closed(node: any): any {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closed(value)]));
  const isOpen = node.type !== 'object' || node.properties === undefined || node.additionalProperties !== undefined;
  return isOpen ? copy : { ...copy, unevaluatedProperties: false };
}

function at(document: any, pointer: string): any {
  return pointer
    .split('/')
    .slice(1)
    .reduce((node, key) => node[key.replace(/~1/g, '/').replace(/~0/g, '~')], document);
}

const escaped = (key: string): string =>
  key.replace(/~/g, '~0').replace(/\//g, '~1').replace(/[{}]/g, encodeURIComponent);

const parametersIn = (template: string): number => template.split('{').length;

/** The code in an error's body; `-` for other bodies. */
export function codeIn(body: any): string {
  return String(body?.error?.code ?? body?.errors?.[0]?.errorCode ?? '-');
}

function shown({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath || 'body'} ${message} ${JSON.stringify(params)}`;
}

function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Adds a line to the file that `OPENAPI_SEEN` names. */
function note(seen: string): void {
  const file = process.env['OPENAPI_SEEN'];
  if (file !== undefined) appendFileSync(file, `${seen}\n`);
}
