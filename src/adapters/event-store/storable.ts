// Checks events before they are stored and writes them as JSON. Adapters call `encodeStorable` first, so refused events reach no queue.
import { isId } from '../../kernel/ids.js';
import {
  type ExpectedRevision,
  MAX_APPEND_BYTES,
  MAX_EVENT_BYTES,
  type NewEvent,
  type StreamAppend,
  UnstorableEvent,
} from '../../ports/event-store.js';

/** An event that passed every check, with its data and metadata as JSON texts. */
export interface StorableEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

export interface StorableAppend {
  readonly events: readonly StorableEvent[];
  /** The size that counts against MAX_APPEND_BYTES. */
  readonly bytes: number;
}

/** `<category>-<id>` in visible ASCII only, so that every store has the same bytes for a name. */
const STREAM = /^[A-Za-z0-9_]+-[!-~]+$/;
const MAX_STREAM_LENGTH = 256;
const EVENT_TYPE = /^[A-Za-z][A-Za-z0-9_.-]{0,127}$/;
/** A depth that no event reaches. The limit also stops at a value that contains itself. */
const MAX_DEPTH = 64;
/** The id, type and framing of an event, which the stores count as well. */
const EVENT_OVERHEAD_BYTES = 64;

/** Throws UnstorableEvent, which names the location and never the value. The texts are made now, so later changes by the caller have no effect. */
export function encodeStorable(
  stream: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[],
): StorableAppend {
  if (typeof stream !== 'string' || stream.length > MAX_STREAM_LENGTH || !STREAM.test(stream)) {
    throw new UnstorableEvent('The stream name is not <category>-<id> in visible ASCII of at most 256 characters');
  }
  if (expected !== 'no-stream' && !(Number.isSafeInteger(expected) && expected >= 0)) {
    throw new UnstorableEvent('The expected revision is neither an integer from 0 nor "no-stream"');
  }
  if (events.length === 0) throw new UnstorableEvent('An append needs at least one event');
  let bytes = 0;
  const encoded = events.map((event, index) => {
    const storable = encodeEvent(event, index);
    const size = Buffer.byteLength(storable.data) + Buffer.byteLength(storable.metadata);
    if (size > MAX_EVENT_BYTES)
      throw new UnstorableEvent(`Event ${index} has ${size} bytes, more than ${MAX_EVENT_BYTES}`);
    bytes += size + storable.type.length + EVENT_OVERHEAD_BYTES;
    return storable;
  });
  if (bytes > MAX_APPEND_BYTES)
    throw new UnstorableEvent(`The append has ${bytes} bytes, more than ${MAX_APPEND_BYTES}`);
  if (new Set(encoded.map(({ id }) => id)).size < encoded.length)
    throw new UnstorableEvent('An event id appears twice in one append');
  return { events: encoded, bytes };
}

/** Throws UnstorableEvent for a group that no store accepts, before its first event is stored. */
export function checkTogether(appends: readonly StreamAppend[]): readonly StorableAppend[] {
  if (new Set(appends.map(({ stream }) => stream)).size < appends.length)
    throw new UnstorableEvent('A stream appears twice in one append');
  return appends.map(({ stream, expected, events }) => encodeStorable(stream, expected, events));
}

function encodeEvent({ id, type, data, metadata }: NewEvent, index: number): StorableEvent {
  // EventStoreDB would return an upper-case UUID in lower case, and the id would seem to be that of another event.
  if (typeof id !== 'string' || !isId(id))
    throw new UnstorableEvent(`The id of event ${index} is not a UUID in lower case`);
  if (typeof type !== 'string' || !EVENT_TYPE.test(type))
    throw new UnstorableEvent(`The type of event ${index} is not a plain name`);
  return {
    id,
    type,
    data: encodeObject(data, `event ${index}: data`),
    metadata: encodeObject(metadata, `event ${index}: metadata`),
  };
}

function encodeObject(value: unknown, place: string): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UnstorableEvent(`${place} is not an object`);
  check(value, place, []);
  return JSON.stringify(value);
}

/** Refuses values that JSON would drop or change, or on which it fails. A negative zero passes, because it is read back as an equal zero. */
function check(value: unknown, place: string, path: string[]): void {
  switch (typeof value) {
    case 'boolean':
      return;
    case 'string':
      return value.isWellFormed() ? undefined : refuse('holds a lone surrogate', place, path);
    case 'number':
      return Number.isFinite(value) ? undefined : refuse('is not a finite number', place, path);
    case 'object':
      break;
    default:
      return refuse(`is of type ${typeof value}`, place, path);
  }
  if (value === null) return;
  if (path.length >= MAX_DEPTH) return refuse('is nested too deeply', place, path);
  const keys = Object.keys(value);
  if (Array.isArray(value)) {
    if (!isWhole(value, keys)) return refuse('is an array with holes or properties', place, path);
  } else if (!isPlain(value)) return refuse('is neither a plain object nor an array', place, path);
  if (Object.getOwnPropertySymbols(value).length > 0) return refuse('has a symbol as a key', place, path);
  for (const key of keys) {
    path.push(key);
    if (!key.isWellFormed()) return refuse('has a key with a lone surrogate', place, path);
    check((value as Readonly<Record<string, unknown>>)[key], place, path);
    path.pop();
  }
}

/** An array's own keys begin with its indexes. If it has as many keys as elements and the last key is the last index, all keys are indexes. */
function isWhole({ length }: readonly unknown[], keys: readonly string[]): boolean {
  return keys.length === length && (length === 0 || keys.at(-1) === String(length - 1));
}

function refuse(reason: string, place: string, path: readonly string[]): never {
  // A key may contain personal data, so the error repeats only keys that look like names of the service.
  const names = path.slice(0, 8).map((key) => (/^[$\w]{1,32}$/.test(key) ? key : '?'));
  throw new UnstorableEvent(`${[place, ...names].join('.')} ${reason}`);
}

/** The prototype is null or has no prototype of its own. A check for `Object.prototype` itself would refuse objects of another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
