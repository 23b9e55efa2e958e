// Limits the work of the parser, and of later code, on a JSON body (docs/contract/general.md#bodies). Called before the body is parsed.
import type { DomainErrorDetail } from '../../kernel/domain-error.js';

/** The largest request body of a route without a limit of its own, in bytes. */
export const SMALL_BODY_BYTES = 32_000;
/** For routes that accept lists and longer texts of the caller. */
export const LARGE_BODY_BYTES = 64_000;

/** The detail of a refusal that names the limit and the limited thing. */
export const atMost = (of: string, bytes: number): DomainErrorDetail => ({
  rule: `The ${of} may have ${bytes.toLocaleString('en')} bytes at most.`,
});

const DEEPEST = 32;
/** The limit in a small body, and in a larger body. */
const MOST_VALUES = [500, 10_000] as const;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** The highest code of the four white space characters. */
const SPACE = 0x20;

/**
 * Whether arrays and objects nest deeper than 32, or contain more values than the body limit of the route allows. The check reads each byte once and
 * stores nothing, so it costs less than parsing. Text that is not JSON may pass, because the parser refuses it.
 */
export function isBeyondLimits(json: Uint8Array, bodyLimit: number): boolean {
  const mostValues = MOST_VALUES[bodyLimit > SMALL_BODY_BYTES ? 1 : 0];
  let depth = 0;
  let values = 0;
  // Set immediately after an opening bracket. A value there is the first one, and every further value follows a comma.
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
