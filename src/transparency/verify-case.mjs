// Checks a case file without the service that made it: `node verify-case.mjs case.zip [--policy FILE] [--log FOLDER-OR-URL]`
// The exit code is 0 only if everything that was given holds. The program needs Node 20.19 and no package. verify.html contains this file and does the
// same in a browser. Formats: RFC 6962, and signed-note, tlog-checkpoint, tlog-cosignature, tlog-tiles, tlog-proof and tlog-policy of C2SP.

/** The case file or the log does not hold. The message is a sentence for the reader. */
class Refused extends Error {}

const FORMAT = 'case-file@v1';
const PROOF = 'c2sp.org/tlog-proof@v1';
/** The only names in a case file. So no name leads out of a folder into which the file is unpacked. */
const NAME =
  /^(?:manifest\.json|checkpoint|policy|timeline\.(?:html|pdf)|verify-case\.mjs|verify\.html|events\/(?:0|[1-9]\d{0,14})\.(?:json|tlog-proof)|documents\/[a-z0-9][a-z0-9.-]{0,99}\.age)$/;
const MOST_BYTES = 500_000_000;
const NO_CASE = new Uint8Array(32);
/** The bytes of an entry in a bundle, with its length before it. */
const BUNDLED = 66;
const TILE_WIDTH = 256;
const LOG_KEY = 1;
const WITNESS_KEY = 4;

/** Browsers use Web Cryptography. The command line uses the faster functions of Node. */
const primitives = {
  sha256: async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)),
  async isSigned(key, message, signature) {
    const imported = await crypto.subtle.importKey('raw', key, { name: 'Ed25519' }, false, ['verify']);
    return crypto.subtle.verify({ name: 'Ed25519' }, imported, signature, message);
  },
};

const bytesOf = (text) => new TextEncoder().encode(text);
const textIn = (bytes) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
const same = (one, other) => one.length === other.length && one.every((byte, place) => byte === other[place]);
const joined = (one, other) => {
  const whole = new Uint8Array(one.length + other.length);
  whole.set(one);
  whole.set(other, one.length);
  return whole;
};
const base64 = (bytes) => btoa(String.fromCharCode(...bytes));
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const leafHash = (entry) => primitives.sha256(joined(Uint8Array.of(0), entry));
const nodeHash = (left, right) => primitives.sha256(joined(Uint8Array.of(1), joined(left, right)));
const count = (number, thing) => `${number} ${thing}${number === 1 ? '' : 's'}`;

/** Null for any text that is not the one base64 of its bytes. */
function fromBase64(text) {
  try {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return base64(bytes) === text ? bytes : null;
  } catch {
    return null;
  }
}

/**
 * Checks the case file. `policy`: the reader's own tlog-policy. `log`: reads a file of the log, or returns null if the log has no such file. Returns
 * sentences of three kinds: proved facts, facts without a proof (`open`), and the reasons to refuse the file. `shown` has the proved events.
 */
export async function verifyCase(zip, { policy = null, log = null } = {}) {
  const report = { proved: [], open: [], refused: [] };
  try {
    await checkCase(zip, policy, log, report);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    report.refused.push(error.message);
  }
  return report;
}

async function checkCase(zip, policy, log, report) {
  const { proved, open, refused } = report;
  const files = await unzip(zip);
  const file = (name) => files.get(name) ?? refuse(`The zip has no ${name}.`);
  const rules = await readPolicy(policy ?? readable(file('policy'), 'policy'));
  const note = readable(file('checkpoint'), 'checkpoint');
  const checkpoint = await openCheckpoint(note, rules, 'checkpoint');
  const { origin, size, key, witnesses } = checkpoint;
  proved.push(`The log ${origin} signed a tree of ${count(size, 'event')} with the key ${key}.`);
  if (policy === null)
    open.push('That this is the key of the log: it came with the case file. Give your own policy (--policy).');
  for (const { name, at } of witnesses) proved.push(`The witness ${name} cosigned the checkpoint at ${at}.`);
  if (witnesses.length === 0)
    open.push('That the log shows one history to everybody: no witness cosigned the checkpoint.');
  const manifest = readManifest(file('manifest.json'), checkpoint, files);
  const tag = fromBase64(manifest.caseTag);
  const events = [];
  for (const index of manifest.events)
    await checkEvent(index, file, { note, ...checkpoint }, tag).then(
      (event) => events.push(event),
      (error) => (error instanceof Refused ? refused.push(error.message) : Promise.reject(error)),
    );
  const tagged = events.filter(({ ofCase }) => ofCase);
  if (!tagged.some(({ event }) => event.stream === `screening-${manifest.screening}` && event.revision === 0))
    refused.push(`The file has no first event of the screening ${manifest.screening} under the tag of the case.`);
  const next = new Map();
  for (const { event } of tagged) {
    const { stream, revision } = event;
    if (revision !== (next.get(stream) ?? revision))
      refused.push(`The file leaves out events of ${stream} before its revision ${revision}.`);
    next.set(stream, revision + 1);
  }
  if (refused.length > 0) return;
  report.shown = { manifest, events };
  const shared = count(events.length - tagged.length, 'event');
  proved.push(`All ${count(events.length, 'event')} of the file are in this tree, unchanged.`);
  proved.push(
    `Of the screening ${manifest.screening}: ${count(tagged.length, 'event')}. Of shared streams: ${shared}.`,
  );
  if (log === null) open.push('That the file has all events of the case. verify-case.mjs counts them with --log.');
  else await countInLog(log, rules, { checkpoint, tag, tagged }, { proved, open });
  open.push('The times in the events, and manifest.json. The service wrote them.');
  open.push('The text of timeline.html, timeline.pdf and the documents. verify.html shows the proved events itself.');
}

function refuse(sentence) {
  throw new Refused(sentence);
}

function readable(bytes, name) {
  try {
    return textIn(bytes);
  } catch {
    return refuse(`${name} is not text.`);
  }
}

/** The files of the zip, each exactly once, without hidden bytes between them. */
async function unzip(bytes) {
  try {
    return await filesIn(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    if (error instanceof Refused) throw error;
    return refuse('The zip is truncated or damaged.');
  }
}

async function filesIn(bytes, view) {
  const [short, long] = [(place) => view.getUint16(place, true), (place) => view.getUint32(place, true)];
  const end = bytes.length - 22;
  if (long(end) !== 0x06054b50) refuse('The zip is truncated or damaged.');
  const files = new Map();
  let [entry, next, total] = [long(end + 16), 0, 0];
  const directory = entry;
  for (let left = short(end + 10); left > 0; left--) {
    const [flags, method, packed, length] = [short(entry + 8), short(entry + 10), long(entry + 20), long(entry + 24)];
    const name = textIn(bytes.subarray(entry + 46, entry + 46 + short(entry + 28)));
    if (long(entry) !== 0x02014b50 || !NAME.test(name))
      refuse(`The zip has a file ${JSON.stringify(name)}, and no case file has it.`);
    if (files.has(name)) refuse(`The zip has ${name} twice.`);
    const local = long(entry + 42);
    const start = local + 30 + short(local + 26) + short(local + 28);
    const localName = textIn(bytes.subarray(local + 30, local + 30 + short(local + 26)));
    const isPlain = local === next && long(local) === 0x04034b50 && localName === name && (flags & 0b1001) === 0;
    if (!isPlain || (method !== 0 && method !== 8)) refuse(`The zip has another ${name} than its directory names.`);
    next = start + packed;
    total += length;
    if (total > MOST_BYTES) refuse('The zip is larger than any case file.');
    const content = method === 0 ? bytes.subarray(start, next) : await inflated(bytes.subarray(start, next), length);
    if (content.length !== length) refuse(`The zip is damaged: ${name} has another size.`);
    files.set(name, content);
    entry += 46 + short(entry + 28) + short(entry + 30) + short(entry + 32);
  }
  if (next !== directory || entry !== end) refuse('The zip has bytes that belong to no file.');
  return files;
}

async function inflated(packed, length) {
  const parts = [];
  let size = 0;
  for await (const part of new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))) {
    size += part.length;
    if (size > length) break;
    parts.push(part);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** The keys of a tlog-policy, and its quorum. */
async function readPolicy(text) {
  const rules = { logs: [], witnesses: [], isMet: null };
  /** Whether the member has witnessed, by the names of the witnesses that cosigned. */
  const members = new Map();
  for (const line of text.split('\n')) {
    const [word, ...rest] = line.trim().split(/[ \t]+/);
    if (word === '' || word.startsWith('#')) continue;
    if (word === 'log') rules.logs.push(await verifierKey(rest[0], LOG_KEY));
    else if (word === 'witness') {
      rules.witnesses.push({ ...(await verifierKey(rest[1], WITNESS_KEY)), member: rest[0] });
      members.set(rest[0], (cosigned) => cosigned.includes(rest[0]));
    } else if (word === 'group') {
      const [group, needed, ...names] = rest;
      const parts = names.map((one) => members.get(one) ?? refuse(`The policy has a group of unknown witnesses.`));
      const least = needed === 'all' ? parts.length : needed === 'any' ? 1 : Number(needed);
      if (!(least >= 1 && least <= parts.length)) refuse(`The policy has a group without a number of witnesses.`);
      members.set(group, (cosigned) => parts.filter((isMet) => isMet(cosigned)).length >= least);
    } else if (word === 'quorum' && rules.isMet === null) {
      rules.isMet = rest[0] === 'none' ? () => true : (members.get(rest[0]) ?? null);
    } else refuse(`The policy has a line that is not one of tlog-policy: ${JSON.stringify(line)}.`);
  }
  if (rules.isMet === null || rules.logs.length === 0) refuse(`The policy names no log or no quorum.`);
  return rules;
}

/** Reads `<name>+<id>+<base64>` of signed-note. A witness with another kind of key cannot be checked, so it has no key here. */
async function verifierKey(text = '', kind) {
  const [, name, id, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? refuse(`The policy has a wrong key.`);
  const typed = fromBase64(encoded) ?? refuse(`The policy has a wrong key.`);
  const idOf = hex((await primitives.sha256(joined(bytesOf(`${name}\n`), typed))).subarray(0, 4));
  if (idOf !== id) refuse(`The policy has a key with the id of another key.`);
  const isKnown = typed[0] === kind && typed.length === 33;
  if (!isKnown && kind === LOG_KEY) refuse(`The policy has a key of the log that is not of Ed25519.`);
  return { name, id, text, key: isKnown ? typed.subarray(1) : null };
}

/** A checkpoint that a log of the policy signed, and enough of the policy's witnesses. */
async function openCheckpoint(note, { logs, witnesses, isMet }, name) {
  const end = note.lastIndexOf('\n\n');
  const [text, lines] = [note.slice(0, end + 1), note.slice(end + 2).split('\n')];
  const [origin, size, encoded = ''] = text.split('\n');
  const root = fromBase64(encoded);
  if (end < 0 || lines.pop() !== '' || !/^(?:0|[1-9]\d{0,14})$/.test(size) || root?.length !== 32)
    refuse(`${name} is not a checkpoint.`);
  const opened = { origin, size: Number(size), root, key: null, witnesses: [] };
  for (const line of lines) {
    const [, signer, signed] = /^— (\S+) (\S+)$/.exec(line) ?? refuse(`${name} has a line that is not a signature.`);
    const bytes = fromBase64(signed) ?? refuse(`${name} has a line that is not a signature.`);
    const isBy = (key) => key.name === signer && key.id === hex(bytes.subarray(0, 4)) && key.key !== null;
    const log = logs.find((key) => isBy(key) && key.name === origin);
    const witness = witnesses.find(isBy);
    const wrong = `${name} has a wrong signature of ${signer}.`;
    if (log !== undefined) {
      if (!(await primitives.isSigned(log.key, bytesOf(text), bytes.subarray(4)))) refuse(wrong);
      opened.key = log.text;
    } else if (witness !== undefined) {
      const seconds = bytes.length === 76 ? new DataView(bytes.buffer).getBigUint64(4) : refuse(wrong);
      const message = bytesOf(`cosignature/v1\ntime ${seconds}\n${text}`);
      if (!(await primitives.isSigned(witness.key, message, bytes.subarray(12)))) refuse(wrong);
      const at = new Date(Number(seconds) * 1000).toISOString();
      opened.witnesses.push({ member: witness.member, name: signer, at });
    }
  }
  if (opened.key === null) refuse(`${name} is not signed by a key of the policy.`);
  if (!isMet(opened.witnesses.map(({ member }) => member)))
    refuse(`${name} lacks cosignatures of the policy's quorum.`);
  return opened;
}

function readManifest(bytes, { size, origin }, files) {
  const manifest = parsed(bytes, 'manifest.json');
  if (manifest.format !== FORMAT) refuse(`manifest.json has another format than ${FORMAT}.`);
  const { events, caseTag, checkpointSize } = manifest;
  const isNext = (one, at) => Number.isSafeInteger(one) && (at === 0 || one > events[at - 1]);
  if (!Array.isArray(events) || !events.every(isNext)) refuse('manifest.json does not list the events in their order.');
  const tag = fromBase64(caseTag);
  if (tag?.length !== 32 || same(tag, NO_CASE)) refuse('manifest.json has no tag of a case.');
  if (checkpointSize !== size || manifest.origin !== origin) refuse('manifest.json names another checkpoint.');
  const listed = new Set(events.flatMap((one) => [`events/${one}.json`, `events/${one}.tlog-proof`]));
  for (const name of files.keys())
    if (name.startsWith('events/') && !listed.has(name))
      refuse(`The zip has ${name}, but manifest.json does not list it.`);
  return manifest;
}

function parsed(bytes, name) {
  try {
    return Object(JSON.parse(textIn(bytes)));
  } catch {
    return refuse(`${name} is not JSON.`);
  }
}

/** An event with its proof. The entry has the tag of the case, or the zeros of a shared stream. */
async function checkEvent(index, file, { note, size, root }, tag) {
  const name = `events/${index}.json`;
  const content = file(name);
  const proof = readable(file(`events/${index}.tlog-proof`), `events/${index}.tlog-proof`);
  const [beginning, ...checkpoint] = proof.split('\n\n');
  const [format, ...lines] = beginning.split('\n');
  const own = lines[0]?.startsWith('extra ') ? lines.slice(1) : lines;
  if (format !== PROOF || own[0] !== `index ${index}`)
    refuse(`events/${index}.tlog-proof is not of the event ${index}.`);
  if (checkpoint.join('\n\n') !== note) refuse(`events/${index}.tlog-proof has another checkpoint than the file.`);
  const hashes = own.slice(1).map((line) => fromBase64(line));
  const digest = await primitives.sha256(content);
  for (const entry of [tag, NO_CASE]) {
    const found = await rootFrom(index, size, await leafHash(joined(entry, digest)), hashes);
    if (found !== null && same(found, root)) return { index, ofCase: entry === tag, event: parsed(content, name) };
  }
  return refuse(`${name} is not in the tree: the event or its proof was changed, or it is of another case.`);
}

/** The root that the proof gives for the leaf (RFC 9162, 2.1.3.2); null if the proof does not fit. */
async function rootFrom(index, size, leaf, hashes) {
  let [place, last, root] = [index, size - 1, leaf];
  if (place > last) return null;
  for (const sibling of hashes) {
    if (last === 0 || sibling?.length !== 32) return null;
    if (place % 2 === 1 || place === last) {
      root = await nodeHash(sibling, root);
      for (; place % 2 === 0 && place !== 0; last = Math.floor(last / 2)) place /= 2;
    } else root = await nodeHash(root, sibling);
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  return last === 0 ? root : null;
}

/** The tree of the log's entries has the root of both checkpoints. Then no entry with the tag may be missing in the file. */
async function countInLog(log, rules, { checkpoint, tag, tagged }, { proved, open }) {
  const note = (await log('checkpoint')) ?? refuse('The log has no checkpoint.');
  const now = await openCheckpoint(readable(note, 'The checkpoint of the log'), rules, 'The checkpoint of the log');
  if (now.size < checkpoint.size)
    refuse(`The log has ${count(now.size, 'event')}, but the case file proves that it had ${checkpoint.size}.`);
  const known = new Set(tagged.map(({ index }) => index));
  const [edge, leftOut] = [[], []];
  let [size, later] = [0, 0];
  const compare = async ({ size: expected, root }, name) => {
    if (size === expected && !same(await rootOf(edge), root)) refuse(`The log does not have the root of ${name}.`);
  };
  while (size < now.size) {
    for (const entry of await bundleAt(log, size / TILE_WIDTH, Math.min(TILE_WIDTH, now.size - size))) {
      if (same(entry.subarray(0, 32), tag)) {
        if (size >= checkpoint.size) later += 1;
        else if (!known.has(size)) leftOut.push(size);
      }
      let added = { height: 0, hash: await leafHash(entry) };
      for (let left = edge.at(-1); left?.height === added.height; left = edge.at(-1))
        added = { height: added.height + 1, hash: await nodeHash(edge.pop().hash, added.hash) };
      edge.push(added);
      size += 1;
      await compare(checkpoint, 'the checkpoint of the case file');
    }
  }
  await compare(now, 'its checkpoint');
  if (leftOut.length > 0)
    refuse(`The case file leaves out events of the case. The log has them at ${leftOut.join(', ')}.`);
  proved.push(`The log has ${count(known.size, 'event')} of the case under the checkpoint. The file has all of them.`);
  proved.push(`The log has ${count(now.size, 'event')} now. It continues the tree of the case file.`);
  if (later > 0) open.push(`The later events of the case: the log has ${later} after the checkpoint of the file.`);
}

async function rootOf(edge) {
  const join = async (right, { hash }) => nodeHash(hash, await right);
  return edge.slice(0, -1).reduceRight(join, edge.at(-1).hash);
}

/** The entries of a bundle. When the log has grown, a wider bundle replaces the narrow one. */
async function bundleAt(log, index, width) {
  const digits = String(index);
  const parts = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.{3}/g);
  const full = `tile/entries/${parts.map((part, at) => (at < parts.length - 1 ? `x${part}` : part)).join('/')}`;
  const bytes = (width < TILE_WIDTH ? await log(`${full}.p/${width}`) : null) ?? (await log(full));
  if ((bytes?.length ?? 0) < width * BUNDLED) refuse(`The file ${full} of the log is missing or too short.`);
  return Array.from({ length: width }, (_, at) => bytes.subarray(at * BUNDLED + 2, (at + 1) * BUNDLED));
}

/** The report as lines of text. */
export function linesOf({ proved, open, refused }) {
  const part = (title, found) => (found.length === 0 ? [] : [title, ...found.map((one) => `  - ${one}`), '']);
  const end = refused.length === 0 ? 'The case file holds.' : 'The case file is REFUSED.';
  return [...part('Proved:', proved), ...part('Not proved:', open), ...part('Refused:', refused), end];
}

/** The files of the log, in a folder or at an address such as https://internal.example/transparency. */
function logAt(place, readFile) {
  const failed = (error) => (error.code === 'ENOENT' ? null : refuse(`The log cannot be read: ${error.message}.`));
  if (!/^https?:/.test(place)) return (path) => readFile(`${place}/${path}`).catch(failed);
  return async (path) => {
    const url = `${place.replace(/\/$/, '')}/${path}`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(30_000) }).catch(failed);
    if (!answer.ok && answer.status !== 404) refuse(`The log cannot be read: it answers ${answer.status}.`);
    return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : null;
  };
}

async function main() {
  const { createPublicKey, createHash, verify } = await import('node:crypto');
  const { readFile } = await import('node:fs/promises');
  const { parseArgs } = await import('node:util');
  primitives.sha256 = (bytes) => createHash('sha256').update(bytes).digest();
  primitives.isSigned = (key, message, signature) => {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key).toString('base64url') };
    return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature);
  };
  const options = { policy: { type: 'string' }, log: { type: 'string' } };
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  if (positionals.length !== 1) throw new Error('Use: verify-case.mjs case.zip [--policy FILE] [--log FOLDER-OR-URL]');
  const policy = values.policy === undefined ? null : await readFile(values.policy, 'utf8');
  const log = values.log === undefined ? null : logAt(values.log, readFile);
  const report = await verifyCase(new Uint8Array(await readFile(positionals[0])), { policy, log });
  console.log(linesOf(report).join('\n'));
  process.exitCode = report.refused.length === 0 ? 0 : 1;
}

// Imported modules, and the page, do not run the command line.
if (globalThis.process?.argv[1] && (await import('node:fs')).realpathSync(process.argv[1]) === import.meta.filename)
  await main().catch((error) => {
    console.error(error.message);
    process.exitCode = 2;
  });
