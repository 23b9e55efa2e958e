// The text over which hash chains are computed, and the bytes of delivered events (docs/architecture.md#the-hash-chain, docs/adr/0011).

/** The largest number of keys in an object of a stored event. */
const FEW = 32;

/** A text that JSON writes unchanged: without quotes, backslashes, control characters and surrogates. */
const PLAIN = /^[ !#-[\]-\uD7FF\uE000-\uFFFF]*$/;

/**
 * RFC 8785 (JSON Canonicalization Scheme) of a JSON value: without white space, keys ordered by UTF-16 code units, numbers and texts as in
 * ECMAScript. Undefined members are omitted. Any other value that is not JSON is a TypeError.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quoted(value);
    case 'number':
      return Number.isFinite(value) ? String(value) : refuse();
    case 'boolean':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value);
    default:
      return refuse();
  }
}

function canonicalArray(values: readonly unknown[]): string {
  let text = '';
  for (const value of values) text += `${text === '' ? '' : ','}${canonicalJson(value)}`;
  return `[${text}]`;
}

function canonicalObject(value: object): string {
  let text = '';
  for (const key of sorted(Object.keys(value))) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${quoted(key)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

/** Sorts by UTF-16 code units, in place. With few keys, the function needs a third of the time of `sort`. */
function sorted(keys: string[]): string[] {
  if (keys.length > FEW) return keys.sort();
  for (let place = 1; place < keys.length; place++) {
    const key = keys[place] as string;
    let before = place - 1;
    for (; before >= 0 && (keys[before] as string) > key; before--) keys[before + 1] = keys[before] as string;
    keys[before + 1] = key;
  }
  return keys;
}

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

function refuse(): never {
  throw new TypeError('Only JSON has a canonical form');
}
