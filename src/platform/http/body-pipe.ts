// Checks bodies and queries with class-validator by the rules of their classes, and refuses them with the error codes of the broken rules.
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
 * Sets the error code of a rule. Without a code of its own, a broken rule has the code `request.invalid`. The message states the rule and never
 * quotes the value. The code is stored under the message, because class-validator merges the contexts of rules of one kind.
 */
export function means(code: ErrorCode, message: string): ValidationOptions {
  return { message, context: { [message]: code } };
}

/**
 * Nest's validation with four additional rules (docs/adr/0011). Only the documented fields of a body are used. In an optional field, null and an
 * empty text count as absent. A body that is not an object is refused as a whole, not field by field. Rules may use the time of receipt.
 * Class-transformer is not used, because no rule needs converted fields.
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
    // A body may be omitted when an empty body would be valid.
    return super.transform({}, metadata).catch((error: unknown) => {
      throw error instanceof DomainError ? refused : error;
    });
  }
}

const ANY_BODY = Symbol('any body');
const NULL_COUNTS = Symbol('null counts');

/** Marks a body class whose content the domain checks, even if it is empty. A body that is not an object counts as empty. */
export const TakesAnything = (): ClassDecorator => Reflect.metadata(ANY_BODY, true);

/** For a field in which null and absence have different meanings. */
export const NullCounts = (): PropertyDecorator => Reflect.metadata(NULL_COUNTS, true);

/**
 * A rule over several fields, or a rule that needs the time. `holds` receives the value, the body and the time of receipt.
 * `form` describes the valid values in the documents, as a JSON Schema.
 */
export function Rule(
  holds: (value: never, body: never, receivedAt: Date) => boolean,
  options: ValidationOptions,
  form: object = {},
): PropertyDecorator {
  const validate = (value: unknown, args?: ValidationArguments): boolean => {
    const body = args?.object as object;
    return holds(value as never, body as never, receivedAt.get(body) ?? new Date(Number.NaN));
  };
  // The message is the rule's name, because a field may have several rules.
  return ValidateBy({ name: String(options.message), constraints: [{ form }], validator: { validate } }, options);
}

/** Format characters are refused. Readers cannot see format characters, and mail to an address with such characters never arrives. */
export const IsMailAddress = (options: ValidationOptions): PropertyDecorator =>
  Rule((text: unknown) => !/[\p{Cf}\p{Cs}]/u.test(String(text)) && isEmail(text), options, { format: 'email' });

/** The time of receipt by the service's clock. */
const receivedAt = new WeakMap<object, Date>();
/** The fields of each request body and query that its class does not have. */
export const unknownFields = new WeakMap<object, readonly string[]>();

/** Reads only own properties, never those of prototypes. */
function documentedFields<Body>(type: Type<Body>, given: object, now: Date): Body {
  const body = new type();
  receivedAt.set(body as object, now);
  const fields = fieldsOf(type);
  const unknown = Object.keys(given).filter((name) => !fields.has(name));
  if (unknown.length > 0) unknownFields.set(given, unknown);
  for (const [field, isOptionalText] of fields) {
    const value: unknown = Object.hasOwn(given, field) ? (given as Record<string, unknown>)[field] : undefined;
    const isAbsent =
      value === undefined ||
      (value === null && !Reflect.hasMetadata(NULL_COUNTS, type.prototype as object, field)) ||
      (value === '' && isOptionalText);
    if (!isAbsent) (body as Record<string, unknown>)[field] = value;
  }
  return body;
}

/** The fields in the order of their declaration, in which they are refused. Each entry says whether its field is an optional text. */
function fieldsOf(type: Type): ReadonlyMap<string, boolean> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const withRule = (is: (rule: (typeof rules)[number]) => boolean): ReadonlySet<string> =>
    new Set(rules.filter(is).map(({ propertyName }) => propertyName));
  const optional = withRule((rule) => rule.type === 'conditionalValidation');
  const texts = withRule(({ name, each }) => name === 'isString' && !each);
  return new Map(rules.map(({ propertyName: field }) => [field, optional.has(field) && texts.has(field)]));
}

/** The first faulty field in documented order decides the code. All faulty fields are listed. */
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
