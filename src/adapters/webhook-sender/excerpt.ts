// Turns the beginning of a receiver's answer into text that may be stored and shown.

/** The number of bytes of an answer that are read at most. */
export const EXCERPT_BYTES = 4_096;

const MASK = '***';

/** A line break or a tab separates words. Every other control or formatting character only hides text. */
const SPACING = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
const UNSEEN = /[\p{Cc}\p{Cf}]/gu;

// A receiver chooses this text, so a match must be cheap. Every repetition is limited, or can begin at only a few places.

/**
 * A name that indicates a secret, the separator, and the value, with or without a scheme. The text may be in JSON, a form, a header or a log line.
 */
const NAMED_SECRET =
  /((?:pass(?:word|wd|phrase)?|secret|token|credentials?|authorization|cookie|session|api[-_ ]?key|private[-_ ]?key|access[-_ ]?key|signature|ssn)[\w-]{0,40}\\?["']?\s{0,4}[:=]\s{0,4})(?:(?:Bearer|Basic|Digest|Negotiate|NTLM|Token|OAuth|DPoP|HMAC|Hawk|API-?Key|Signature)\s{1,4})?(?:\\?"[^"]*"?|'[^']*'?|[^\s,;&"'}\]]+)/gi;

/** A date next to a name of the birth date. The name and the quotes stay. */
const NAMED_BIRTH =
  /((?:dob(?![a-z])|birth|\bborn)[\w-]{0,20}\\?["']?(?:\s{0,4}[:=]|\s{1,4}(?:on|is|was))?\s{0,4}\\?["']?)(?:\d{4}(?:([-/.])\d{1,2}\2\d{1,2}|\d{4})|\d{1,2}([-/.])\d{1,2}\3(?:\d{4}|\d{2})|(?:\d{1,2}\.? )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?(?: \d{1,2},?)? \d{4})(?!\d)/gi;

const USERINFO = /(:\/\/)[^\s/?#"'<>]{1,256}@/g;

const SECRETS: readonly RegExp[] = [
  // Signing secrets, and keys such as sk_live_..., pk_test_..., or a processor's client secrets.
  /\bwhsec_[\w+/=-]*/g,
  /\b[a-z]{2,3}_(?:live|test)_[\w-]*/gi,
  /\b[aprs]k_[\w-]+/gi,
  /\b\w{1,40}_secret_\w*/gi,
  // Tokens of code hosts and chat services, and key ids of cloud providers.
  /\b(?:gh[oprsu]_|github_pat_)\w*/gi,
  /\bxox[a-z]-[\w.-]*/gi,
  /\bA[KS]IA[A-Z\d]{8,}/g,
  /\b(?:Bearer\s{1,4}[^\s"',;]+|Basic\s{1,4}[^\s"',;]{6,})/gi,
  // JSON Web Tokens.
  /\beyJ[\w-]*(?:\.[\w-]*){0,4}/g,
];

const PERSONAL: readonly RegExp[] = [
  // Social security numbers, telephone numbers of North America, mail addresses.
  /\b\d{3}[- ]?\d{2}[- ]?\d{4}\b/g,
  /(?<![\w.-])(?:\+1[ .-]?(?:\(\d{3}\)|\d{3})[ .-]?\d{3}[ .-]?\d{4}|(?:1[ .-])?(?:\(\d{3}\)[ .-]?\d{3}[ .-]?\d{4}|\d{3}([-.])\d{3}\1\d{4}|[2-9]\d{2} [2-9]\d{2} \d{4}))(?!\w|[.-]\d)/g,
  /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g,
];

const UUID = '(?<![\\da-z])[\\da-f]{8}-(?:[\\da-f]{4}-){3}[\\da-f]{12}(?![\\da-z])';
/** A UUID may contain a run of digits that looks like a card number, so it is matched first. */
const UUID_OR_CARD = new RegExp(`(${UUID})|\\b\\d(?:[ -]?\\d){13,18}\\b`, 'gi');
const IDS_AND_TIMES = new RegExp(
  `${UUID}|(?<![\\da-z])(?:\\d{8}T\\d{6,9}Z?|\\d{4}([-/])\\d\\d\\1\\d\\d)(?![\\da-z])`,
  'gi',
);

/** Base64, base64url, hexadecimal, letters or digits in groups. The same pattern also matches paths and words. */
const RUN = /[\w+/-]{32,}={0,2}/g;
/** A text that repeats itself with a short period is not a key. */
const LONGEST_PERIOD = 10;
const WORD = /^(?:[A-Z]?[a-z]{0,19}|[A-Z]?[a-z]{2,19}(?:[A-Z][a-z]{2,19}){1,5}|[a-z]{4,12}\d{1,3})$/;
/** Numbers, versions and similar parts among the words of a path. A path has few such parts, and all are short. */
const ODD = { piece: 16, few: 8, share: 1 / 4 };

const LAST_WORD = /[\w+/=.\uFFFD-]*$/;
/** The longest last word that is treated as part of a cut-off secret. Longer secrets are recognised by their form. */
const CUT_CHARACTERS = 64;
const FIRST_CHARACTERS = 8;
const CUT_UUID = /(?<![\da-z])[\da-f]{8}-(?:[\da-f]{4}-){0,3}[\da-f]{0,12}$/i;
const CUT_SECRETS: readonly RegExp[] = [
  // Numbers of cards and telephones in groups, mail addresses, passwords in URLs. A port does not match.
  /\+?\(?\b\d(?:[ ().-]{0,2}\d){6,24}[ ().-]{0,2}$/,
  /[\w.+-]{1,64}@[\w.-]{0,64}$/,
  /(?<=:\/\/)[^\s/?#"'<>:@]{0,64}:(?!\d{0,5}$)[^\s/?#"'<>]{0,64}$/,
];
const BROKEN_END = /[\uD800-\uDBFF]$/;

/**
 * At most 4,096 characters; null for an empty text. Bytes that are not UTF-8 become replacement characters. `cut`: the answer continued after these
 * bytes.
 */
export function excerptOf(body: Uint8Array, cut: boolean): string | null {
  if (body.byteLength === 0) return null;
  const bytes = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, EXCERPT_BYTES));
  let text = bytes.toString('utf8').replace(SPACING, ' ').replace(UNSEEN, '');
  text = text.replace(USERINFO, `$1${MASK}@`).replace(NAMED_SECRET, `$1${MASK}`).replace(NAMED_BIRTH, `$1${MASK}`);
  for (const secret of SECRETS) text = text.replace(secret, MASK);
  text = text
    .replace(RUN, (run) => (looksRandom(run) ? MASK : run))
    .replace(UUID_OR_CARD, (_, uuid?: string) => uuid ?? MASK);
  for (const personal of PERSONAL) text = text.replace(personal, MASK);
  if (cut) text = withoutCutSecret(text);
  return text.slice(0, EXCERPT_BYTES).replace(BROKEN_END, '');
}

/** Whether a run of characters is a key rather than ids, words or the segments of a path. */
function looksRandom(run: string): boolean {
  if (isRepeating(run)) return false;
  const odd = run
    .replace(IDS_AND_TIMES, '/')
    .split(/[/_=-]/)
    .filter((piece) => !WORD.test(piece));
  const inAll = odd.join('').length;
  return odd.some(({ length }) => length > ODD.piece) || (inAll > ODD.few && inAll > run.length * ODD.share);
}

function isRepeating(run: string): boolean {
  for (let period = 1; period <= LONGEST_PERIOD; period++) if (run.startsWith(run.slice(period))) return true;
  return false;
}

/** The beginning of a secret has no clear form. A last word of some length is removed, unless it consists of ids, plain words or a repetition. */
function withoutCutSecret(text: string): string {
  if (CUT_UUID.test(text)) return text;
  for (const secret of CUT_SECRETS) {
    const place = text.search(secret);
    if (place >= 0) return text.slice(0, place) + MASK;
  }
  const word = LAST_WORD.exec(text.slice(-CUT_CHARACTERS))?.[0] ?? '';
  return word.length < FIRST_CHARACTERS || isHarmless(word) ? text : text.slice(0, -word.length) + MASK;
}

function isHarmless(word: string): boolean {
  const repeating = new Set(word).size * 4 <= word.length;
  return repeating || word.split(/[/_.=-]/).every((piece) => /^[A-Z]?[a-z]*$/.test(piece));
}
