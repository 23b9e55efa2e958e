// Turns the beginning of a receiver's answer into text that may be kept and shown.

/** No more than this is read of an answer. */
export const EXCERPT_BYTES = 4_096;

const MASK = '***';

/** A line break or a tab separates words; every other control or formatting character only hides something. */
const SPACING = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
const UNSEEN = /[\p{Cc}\p{Cf}]/gu;

// Every repetition is bounded or cannot be entered from many places: a receiver chooses this text, and it must not cost time.

/** A telling name, what separates it from its value in JSON, a form, a header or a log line, and the value. */
const NAMED_SECRET =
  /((?:pass(?:word|wd|phrase)?|secret|token|credentials?|authorization|cookie|session|api[-_ ]?key|private[-_ ]?key|access[-_ ]?key|signature|ssn)[\w-]{0,40}\\?["']?\s{0,4}[:=]\s{0,4})(?:\\?"[^"]*"?|'[^']*'?|[^\s,;&"'}\]]+)/gi;

const SECRETS: readonly RegExp[] = [
  // Signing secrets, and keys such as sk_live_..., pk_test_..., or a processor's client secrets.
  /\bwhsec_[\w+/=-]*/g,
  /\b[a-z]{2,3}_(?:live|test)_[\w-]*/gi,
  /\b[aprs]k_[\w-]+/gi,
  /\b\w{1,40}_secret_\w*/gi,
  /\b(?:Bearer\s{1,4}[^\s"',;]+|Basic\s{1,4}[^\s"',;]{6,})/gi,
  // JSON Web Tokens.
  /\beyJ[\w-]*(?:\.[\w-]*){0,4}/g,
  // Runs of base64, base64url or hexadecimal.
  /[\w+/-]{32,}={0,2}/g,
  // Social security and card numbers, mail addresses.
  /\b\d{3}[- ]?\d{2}[- ]?\d{4}\b/g,
  /\b\d(?:[ -]?\d){13,18}\b/g,
  /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g,
];

const IN_A_SECRET = /[\w+/=.\uFFFD-]/;
const FIRST_CHARACTERS = 8;
const BROKEN_END = /[\uD800-\uDBFF]$/;

/**
 * At most 4,096 characters, or null of nothing. Bytes that are no UTF-8 become replacement characters. `cut`: the answer went
 * on behind these bytes.
 */
export function excerptOf(body: Uint8Array, cut: boolean): string | null {
  if (body.byteLength === 0) return null;
  const bytes = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, EXCERPT_BYTES));
  let text = bytes.toString('utf8').replace(SPACING, ' ').replace(UNSEEN, '').replace(NAMED_SECRET, `$1${MASK}`);
  for (const secret of SECRETS) text = text.replace(secret, MASK);
  if (cut) text = withoutCutSecret(text);
  return text.slice(0, EXCERPT_BYTES).replace(BROKEN_END, '');
}

/** Where the cut went through a secret, its beginning looks like nothing in particular: a last word of some length goes. */
function withoutCutSecret(text: string): string {
  let end = text.length;
  while (end > 0 && IN_A_SECRET.test(text.charAt(end - 1))) end -= 1;
  return text.length - end < FIRST_CHARACTERS ? text : text.slice(0, end) + MASK;
}
