// Searches texts and bytes for values that must not be in them, in plain text and in the usual encodings.

/** The values to search for. Each has a name for the report. */
export type Canaries = Iterable<readonly [name: string, canary: string]>;

/** The encodings are cached, because the search looks for each value in thousands of places. */
const DISGUISES = new Map<string, Buffer[]>();

/**
 * The canary as plain text and in hidden forms: base64 at each alignment, base64url, hex, URL-encoded, and in the other letter case.
 */
function disguises(canary: string): Buffer[] {
  const known = DISGUISES.get(canary);
  if (known !== undefined) return known;
  const made = disguisesOf(canary);
  DISGUISES.set(canary, made);
  return made;
}

function disguisesOf(canary: string): Buffer[] {
  const bytes = Buffer.from(canary);
  const aligned = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // The first and last characters depend on the bytes next to the canary.
    return text.slice(offset === 0 ? 0 : offset + 1, text.length - 4);
  });
  const texts = [
    canary,
    canary.toLowerCase(),
    canary.toUpperCase(),
    encodeURIComponent(canary),
    bytes.toString('hex'),
    ...aligned,
    ...aligned.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ];
  // A shorter text could occur by chance in an id or a hash.
  return [...new Set(texts)]
    .filter((text) => text.length >= 8)
    .flatMap((text) => [Buffer.from(text), Buffer.from(text, 'utf16le')]);
}

export function findingsOf(canaries: Canaries, where: string, content: Buffer): string[] {
  return [...canaries].flatMap(([name, canary]) =>
    disguises(canary).some((disguise) => isIn(content, disguise)) ? [`${name} in ${where}`] : [],
  );
}

/** Eight digits can match by chance within the hex digits of a hash or an id. Such a match does not count. */
function isIn(content: Buffer, disguise: Buffer): boolean {
  if (!/^\d{8}$/.test(disguise.toString('latin1'))) return content.includes(disguise);
  for (let at = content.indexOf(disguise); at >= 0; at = content.indexOf(disguise, at + 1)) {
    if (!/^[0-9a-f]{10}$/.test(content.toString('latin1', at - 1, at + 9))) return true;
  }
  return false;
}
