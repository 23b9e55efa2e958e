// Reads values from another window: a reader copies a valid value and returns undefined for any other value.

export type Reader<T> = (value: unknown) => T | undefined;

type OptionalKeys<T> = { [Key in keyof T]-?: object extends Pick<T, Key> ? Key : never }[keyof T];

/** Reads any value, even if its getters or traps throw. Used as the outermost reader of a message. */
export function total<T>(read: Reader<T>): Reader<T> {
  return (value) => {
    try {
      return read(value);
    } catch {
      return undefined;
    }
  };
}

export function text(maxLength: number, pattern = /\S/): Reader<string> {
  return (value) => (typeof value === 'string' && value.length <= maxLength && pattern.test(value) ? value : undefined);
}

export function oneOf<Value extends string>(...values: readonly Value[]): Reader<Value> {
  return (value) => values.find((known) => known === value);
}

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): Reader<number> {
  return (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max ? Number(value) : undefined;
}

export const boolean: Reader<boolean> = (value) => (typeof value === 'boolean' ? value : undefined);

export function nullable<T>(read: Reader<T>): Reader<T | null> {
  return (value) => (value === null ? null : read(value));
}

/** For a field that an older sender does not send. */
export function withDefault<T>(value: T, read: Reader<T>): Reader<T> {
  return (given) => (given === undefined ? value : read(given));
}

/** A list is read only if every item is valid. */
export function list<T>(maxLength: number, read: Reader<T>): Reader<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length > maxLength) return undefined;
    const items = value.map(read);
    return items.includes(undefined) ? undefined : Object.freeze(items as T[]);
  };
}

/**
 * A frozen object with these fields and no others. When a required field is missing, the result is undefined; an invalid optional field is ignored.
 */
export function fields<T extends object>(
  required: { readonly [Key in Exclude<keyof T, OptionalKeys<T>>]: Reader<T[Key]> },
  optional: { readonly [Key in OptionalKeys<T>]: Reader<Exclude<T[Key], undefined>> },
): Reader<T> {
  return (value) => {
    if (typeof value !== 'object' || value === null) return undefined;
    const copy: Record<string, unknown> = {};
    for (const [readers, isRequired] of [
      [required, true],
      [optional, false],
    ] as const)
      for (const [name, read] of Object.entries<Reader<unknown>>(readers)) {
        const field = read((value as Record<string, unknown>)[name]);
        if (field !== undefined) copy[name] = field;
        else if (isRequired) return undefined;
      }
    return Object.freeze(copy) as T;
  };
}
