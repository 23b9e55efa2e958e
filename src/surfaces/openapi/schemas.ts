// Schemas as JSON Schema 2020-12, the dialect of OpenAPI 3.1. The library writes them as OpenAPI 3.0 has them.
import type { Type } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';

export type Json = Readonly<Record<string, unknown>>;

/** The same document or schema without `nullable` and without references that are wrapped for a description. */
export function asJsonSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(asJsonSchema);
  if (typeof node !== 'object' || node === null) return node;
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, name === 'example' ? value : asJsonSchema(value)]),
  );
  const { allOf, type: _, ...about } = rest;
  const [only, ...others] = Array.isArray(allOf) ? (allOf as Json[]) : [];
  const isReference = only !== undefined && others.length === 0 && typeof only['$ref'] === 'string';
  if (nullable !== true) return isReference ? { ...only, ...about } : rest;
  if (isReference) return { anyOf: [only, { type: 'null' }], ...about };
  return orNull(rest);
}

function orNull({ type, enum: values, ...rest }: Json): Json {
  return {
    ...(type !== undefined && { type: [type, 'null'] }),
    ...(Array.isArray(values) && { enum: [...new Set([...(values as unknown[]), null])] }),
    ...rest,
  };
}

/** The names of all schemas that a node needs, with those that they need. */
export function schemasIn(node: unknown, schemas: Json, found = new Set<string>()): ReadonlySet<string> {
  if (typeof node !== 'object' || node === null) return found;
  for (const [key, value] of Object.entries(node)) {
    const name = key === '$ref' && typeof value === 'string' ? /^#\/components\/schemas\/(.+)$/.exec(value)?.[1] : null;
    if (!name) schemasIn(value, schemas, found);
    else if (!found.has(name)) {
      found.add(name);
      schemasIn(schemas[name], schemas, found);
    }
  }
  return found;
}

/** The keywords of each rule of a body class, by the name of the rule. Rules with a function name their keywords themselves. */
const KEYWORDS: Readonly<Record<string, (constraints: readonly unknown[]) => Json>> = {
  minLength: ([minLength]) => ({ minLength }),
  maxLength: ([maxLength]) => ({ maxLength }),
  matches: ([pattern]) => ({ pattern: (pattern as RegExp).source }),
  min: ([minimum]) => ({ minimum }),
  max: ([maximum]) => ({ maximum }),
  arrayMinSize: ([minItems]) => ({ minItems }),
  arrayMaxSize: ([maxItems]) => ({ maxItems }),
  arrayUnique: () => ({ uniqueItems: true }),
};

/** The keywords that the rules of a class add to each of its fields. */
export function rulesOf(type: Type): Readonly<Record<string, Json>> {
  const found: Record<string, Json> = {};
  for (const { propertyName, name = '', constraints = [], each } of getMetadataStorage().getTargetValidationMetadatas(
    type,
    '',
    false,
    false,
  )) {
    const [own] = constraints as readonly ({ readonly form?: Json } | undefined)[];
    const keywords = each ? {} : (KEYWORDS[name]?.(constraints as unknown[]) ?? own?.form ?? {});
    found[propertyName] = { ...keywords, ...found[propertyName] };
  }
  return found;
}

/** A body's schema with the rules that its class checks. The schema's own words count more. */
export function withRules(schema: Json, type: Type): Json {
  const rules = rulesOf(type);
  const properties = Object.entries(schema['properties'] as Record<string, Json>);
  return {
    ...schema,
    properties: Object.fromEntries(properties.map(([name, is]) => [name, { ...rules[name], ...withoutDefault(is) }])),
  };
}

/** Generated clients demand a field that has a default, even if callers may omit the field. The description therefore has the default. */
function withoutDefault({ default: value, ...schema }: Json): Json {
  const { description } = schema;
  const told = `Default: ${JSON.stringify(value)}`;
  return value === undefined
    ? schema
    : { ...schema, description: typeof description === 'string' ? `${description}. ${told}` : told };
}
