// How much a JSON body may ask of the parser and of whatever walks through it (docs/contract/general.md#bodies). Called before it is parsed.

/** Largest request body of a route that does not say otherwise, in bytes. */
export const SMALL_BODY_BYTES = 32_000;
/** For routes that take lists and texts of the caller's own. */
export const LARGE_BODY_BYTES = 64_000;

const DEEPEST = 32;
/** In a small body, and in a larger one. */
const MOST_VALUES = [500, 10_000] as const;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** The highest of the four that may stand between values. */
const SPACE = 0x20;

/**
 * Whether arrays and objects nest deeper than 32, or hold more values together than a route with this limit of its body takes. Looks at each byte once and keeps
 * nothing, so that it costs less than parsing. What is no JSON may pass: the parser finds that out.
 */
export function isBeyondLimits(json: Uint8Array, bodyLimit: number): boolean {
  const mostValues = MOST_VALUES[bodyLimit > SMALL_BODY_BYTES ? 1 : 0];
  let depth = 0;
  let values = 0;
  // Just behind an opening: whatever comes next, unless it closes again, is a first value. All further ones follow a comma.
  let opened = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte <= SPACE) continue;
    if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) {
      depth -= 1;
      opened = false;
      continue;
    }
    if (opened || byte === COMMA) {
      values += 1;
      if (values > mostValues) return true;
    }
    opened = byte === OPENING_BRACKET || byte === OPENING_BRACE;
    if (opened) {
      depth += 1;
      if (depth > DEEPEST) return true;
    } else if (byte === QUOTE) {
      at += 1;
      while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
    }
  }
  return false;
}
