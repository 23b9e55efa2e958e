// Bodies checked by class-validator, told as refusals: the first field in documented order decides the code, all are listed.
import { Injectable, type PipeTransform, type Type } from '@nestjs/common';
import { getMetadataStorage, validateSync, type ValidationError, type ValidationOptions } from 'class-validator';
import type { ErrorCode } from '../../kernel/error-codes.js';
import { DomainError } from '../../kernel/domain-error.js';

export interface FieldFault {
  readonly field: string;
  readonly code: ErrorCode;
  /** Says the rule; never quotes the value. */
  readonly message: string;
}

/** A body class may add rules that need the time or several fields. Called with a body whose own rules held for the fields it looks at. */
export interface CheckedBody {
  furtherFaults?(now: Date, faulty: ReadonlySet<string>): readonly FieldFault[];
}

/** Names the code that a broken rule means; without it a broken rule is `request.invalid`. */
export function means(code: ErrorCode, message: string): ValidationOptions {
  return { message, context: { code } };
}

/** Takes only the documented fields of a JSON object into the class, so that unknown ones are ignored, and checks them. */
export function validBody<Body extends CheckedBody & object>(type: Type<Body>): Type<PipeTransform<unknown, Body>> {
  @Injectable()
  class ValidBody implements PipeTransform<unknown, Body> {
    transform(value: unknown): Body {
      return readBody(type, value, new Date());
    }
  }
  return ValidBody;
}

interface Documented {
  /** In the order of declaration. */
  readonly fields: readonly string[];
  /** What a rule with a message of its own means, by field and message: one field may have the same kind of rule twice. */
  readonly meanings: ReadonlyMap<string, ErrorCode>;
}

const documentedOf = new WeakMap<Type, Documented>();

function documented(type: Type): Documented {
  let known = documentedOf.get(type);
  if (!known) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    const meanings = rules.flatMap(({ propertyName, message, context }) => {
      const code = (context as { code?: ErrorCode } | undefined)?.code;
      return code && typeof message === 'string' ? [[`${propertyName}: ${message}`, code] as const] : [];
    });
    known = { fields: [...new Set(rules.map((rule) => rule.propertyName))], meanings: new Map(meanings) };
    documentedOf.set(type, known);
  }
  return known;
}

export function readBody<Body extends CheckedBody & object>(type: Type<Body>, value: unknown, now: Date): Body {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DomainError('request.invalid', { rule: 'The body must be a JSON object.' });
  const { fields, meanings } = documented(type);
  const body = new type();
  for (const field of fields) {
    const given = Object.hasOwn(value, field) ? (value as Record<string, unknown>)[field] : undefined;
    if (given !== undefined && given !== null) (body as Record<string, unknown>)[field] = given;
  }
  const faults = validateSync(body, { stopAtFirstError: true, forbidUnknownValues: false }).map((error) =>
    asFault(error, meanings),
  );
  const further = body.furtherFaults?.(now, new Set(faults.map((fault) => fault.field))) ?? [];
  const all = [...faults, ...further].sort((one, other) => fields.indexOf(one.field) - fields.indexOf(other.field));
  const [first] = all;
  if (first)
    throw new DomainError(first.code, {
      field: first.field,
      details: all.map(({ field, message }) => ({ field, message })),
    });
  return body;
}

function asFault({ property, constraints }: ValidationError, meanings: Documented['meanings']): FieldFault {
  const [message = 'is not valid'] = Object.values(constraints ?? {});
  return { field: property, code: meanings.get(`${property}: ${message}`) ?? 'request.invalid', message };
}
