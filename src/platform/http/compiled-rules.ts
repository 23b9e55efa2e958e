// The rules of a body class, read once from class-validator's decorators: most bodies are good, and to see that needs none of what the
// library keeps to name what is wrong.
import type { Type } from '@nestjs/common';
import { getMetadataStorage, ValidationTypes, type ValidationArguments } from 'class-validator';

type Metadata = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/** Whether the value is good as far as this rule goes. */
type Check = (value: unknown, body: object) => boolean;

/** The rules of one field, in the order in which the library checks them: a rule may count on those before it. */
interface FieldRules {
  readonly field: string;
  /** When one of them does not hold, the field is not checked. */
  readonly conditions: readonly Check[];
  readonly rules: readonly Check[];
}

const compiled = new WeakMap<object, readonly FieldRules[] | null>();

/** Whether the library would find no fault. False also where it has to be asked, for a kind of rule that is not known here. */
export function isSurelyValid(body: object): boolean {
  const type = body.constructor as Type;
  let fields = compiled.get(type);
  if (fields === undefined) {
    fields = fieldsOf(type);
    compiled.set(type, fields);
  }
  if (fields === null) return false;
  return fields.every(({ field, conditions, rules }) => {
    const value = (body as Readonly<Record<string, unknown>>)[field];
    return !conditions.every((holds) => holds(value, body)) || rules.every((holds) => holds(value, body));
  });
}

function fieldsOf(type: Type): readonly FieldRules[] | null {
  const storage = getMetadataStorage();
  const metadatas = storage.getTargetValidationMetadatas(type, '', false, false);
  if (!metadatas.every(isKnown)) return null;
  return Object.entries(storage.groupByPropertyName(metadatas)).map(([field, all]) => ({
    field,
    conditions: all
      .filter((one) => one.type === ValidationTypes.CONDITIONAL_VALIDATION)
      .map(({ constraints: [holds] }): Check => {
        const condition = holds as (body: object, value: unknown) => boolean;
        return (value, body) => condition(body, value);
      }),
    rules: all.filter((one) => one.type === ValidationTypes.CUSTOM_VALIDATION).flatMap(rulesOf),
  }));
}

function isKnown({ type, each, groups, validateIf }: Metadata): boolean {
  if (groups?.length) return false;
  // WHITELIST lets a field in without any rule.
  if (type === ValidationTypes.CONDITIONAL_VALIDATION || type === ValidationTypes.WHITELIST) return true;
  return type === ValidationTypes.CUSTOM_VALIDATION && !each && validateIf === undefined;
}

function rulesOf({ constraintCls, constraints, propertyName: property }: Metadata): Check[] {
  return getMetadataStorage()
    .getTargetValidatorConstraints(constraintCls)
    .map(({ instance }): Check => (value, body) => {
      const args: ValidationArguments = {
        targetName: body.constructor.name,
        property,
        object: body,
        value,
        constraints,
      };
      return instance.validate(value, args) === true;
    });
}
