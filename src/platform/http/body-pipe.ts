// Bodies and queries are checked by class-validator, as their classes say, and refused with the error codes of the broken rules.
import { type ArgumentMetadata, Injectable, type Type, ValidationPipe } from '@nestjs/common';
import {
  getMetadataStorage,
  isEmail,
  ValidateBy,
  type ValidationArguments,
  type ValidationError,
  type ValidationOptions,
} from 'class-validator';
import type { Clock } from '../../kernel/clock.js';
import type { ErrorCode } from '../../kernel/error-codes.js';
import { DomainError } from '../../kernel/domain-error.js';

/**
 * Names the code that a broken rule means; without it a broken rule is `request.invalid`. The message says the rule and never
 * quotes the value. The code is filed under it, because class-validator merges the contexts of rules of one kind.
 */
export function means(code: ErrorCode, message: string): ValidationOptions {
  return { message, context: { [message]: code } };
}

/**
 * Nest's validation, with three rules of its own (docs/adr/0011): of a body only the documented fields are taken, and null is as
 * good as absent, and so is an empty text in an optional field; what is no object is refused as a whole, not field by field; rules may ask when the body was received.
 * class-transformer is not used: no rule needs more than the fields as they came.
 */
@Injectable()
export class BodyPipe extends ValidationPipe {
  constructor(clock: Clock) {
    super({
      transform: true,
      stopAtFirstError: true,
      exceptionFactory: refusalOf,
      transformerPackage: {
        plainToInstance: (type, given) => documentedFields(type, given as object, clock.now()),
        classToPlain: (body) => body as never,
      },
    });
  }

  override async transform(given: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { metatype } = metadata;
    if (metatype === undefined || !this.toValidate(metadata)) return given;
    const absent = given === undefined || given === null;
    const isObject = typeof given === 'object' && !absent && !Array.isArray(given);
    if (isObject || Reflect.hasMetadata(ANY_BODY, metatype)) return super.transform(isObject ? given : {}, metadata);
    const refused = new DomainError('request.invalid', { rule: 'The body must be a JSON object.' });
    if (!absent) throw refused;
    // A body may be left out where an empty one would do.
    return super.transform({}, metadata).catch((error: unknown) => {
      throw error instanceof DomainError ? refused : error;
    });
  }
}

const ANY_BODY = Symbol('any body');
const NULL_COUNTS = Symbol('null counts');

/** For a body class: the domain judges what is in it, and also that there is nothing. What is no object has nothing in it. */
export const TakesAnything = (): ClassDecorator => Reflect.metadata(ANY_BODY, true);

/** For a field of which null says something else than its absence. */
export const NullCounts = (): PropertyDecorator => Reflect.metadata(NULL_COUNTS, true);

/** A rule over several fields, or one that needs the time. `holds` gets the value, the body and when it was received. */
export function Rule(
  holds: (value: never, body: never, receivedAt: Date) => boolean,
  options: ValidationOptions,
): PropertyDecorator {
  const validate = (value: unknown, args?: ValidationArguments): boolean => {
    const body = args?.object as object;
    return holds(value as never, body as never, receivedAt.get(body) ?? new Date(Number.NaN));
  };
  // Named after what it says: a field may have several.
  return ValidateBy({ name: String(options.message), validator: { validate } }, options);
}

/** No format characters: readers cannot see them, and mail to such an address never arrives. */
export const IsMailAddress = (options: ValidationOptions): PropertyDecorator =>
  Rule((text: unknown) => !/[\p{Cf}\p{Cs}]/u.test(String(text)) && isEmail(text), options);

/** By the service's clock. */
const receivedAt = new WeakMap<object, Date>();

/** Nothing is taken from prototypes. */
function documentedFields<Body>(type: Type<Body>, given: object, now: Date): Body {
  const body = new type();
  receivedAt.set(body as object, now);
  for (const [field, isOptionalText] of fieldsOf(type)) {
    const value: unknown = Object.hasOwn(given, field) ? (given as Record<string, unknown>)[field] : undefined;
    const isAbsent =
      value === undefined ||
      (value === null && !Reflect.hasMetadata(NULL_COUNTS, type.prototype as object, field)) ||
      (value === '' && isOptionalText);
    if (!isAbsent) (body as Record<string, unknown>)[field] = value;
  }
  return body;
}

/** In the order of declaration, in which they are refused as well, and whether each is a text that may be left out. */
function fieldsOf(type: Type): ReadonlyMap<string, boolean> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const withRule = (is: (rule: (typeof rules)[number]) => boolean): ReadonlySet<string> =>
    new Set(rules.filter(is).map(({ propertyName }) => propertyName));
  const optional = withRule((rule) => rule.type === 'conditionalValidation');
  const texts = withRule(({ name, each }) => name === 'isString' && !each);
  return new Map(rules.map(({ propertyName: field }) => [field, optional.has(field) && texts.has(field)]));
}

/** The first field in documented order decides the code; all are listed. */
function refusalOf(errors: readonly ValidationError[]): DomainError {
  const faults = errors.map(({ property, constraints = {}, contexts = {} }) => {
    const [[rule, message] = ['', 'is not valid']] = Object.entries(constraints);
    const codes = (contexts[rule] ?? {}) as Readonly<Record<string, ErrorCode>>;
    return { field: property, message, code: codes[message] };
  });
  return new DomainError(faults[0]?.code ?? 'request.invalid', {
    ...(faults[0] && { field: faults[0].field }),
    details: faults.map(({ field, message }) => ({ field, message })),
  });
}
