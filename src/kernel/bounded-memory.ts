// What a process remembers so as not to ask again, of a bounded size. Every cache that grows with use is one of these.

/** What an entry takes beside its key and value: two objects and a place in the map. */
const ENTRY_BYTES = 200;
/** What a character of JSON takes as an object in memory; measured on documents of the read models. */
const BYTES_PER_CHARACTER = 2;
/** The share of all it remembers that is forgotten at once, to make room. */
const ROOM = 1 / 16;

/** Forgets what was not used for longest once all of it takes more than so many bytes, as reckoned from its JSON: a sixteenth at once. */
export class BoundedMemory<Value> {
  /** The most recently used last. */
  private readonly entries = new Map<string, { readonly value: Value; readonly bytes: number }>();
  private bytes = 0;
  /** The most recently used, which stays where it is when it is used again: what is read again is often read again at once. */
  private newest = '';

  /** `bytesOf`: for values that are no JSON, or all of one size. */
  constructor(
    private readonly maxBytes: number,
    private readonly bytesOf: (value: Value) => number = bytesOfJson,
  ) {}

  get(key: string): Value | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (key !== this.newest) {
      this.entries.delete(key);
      this.entries.set(key, entry);
      this.newest = key;
    }
    return entry.value;
  }

  /** Reckoned now: a value that has grown since is to be set again. */
  set(key: string, value: Value): void {
    this.delete(key);
    const bytes = ENTRY_BYTES + key.length + this.bytesOf(value);
    this.entries.set(key, { value, bytes });
    this.newest = key;
    this.bytes += bytes;
    if (this.bytes > this.maxBytes) this.makeRoom();
  }

  /** For many entries at once: an iteration that begins passes over all that was deleted since the map was laid out. */
  private makeRoom(): void {
    const bytes = this.maxBytes * (1 - ROOM);
    for (const oldest of this.entries.keys()) {
      if (oldest === this.newest && this.bytes <= this.maxBytes) return;
      this.delete(oldest);
      if (this.bytes <= bytes) return;
    }
  }

  delete(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.bytes -= entry.bytes;
  }
}

/** What a value that is JSON takes. */
export function bytesOfJson(value: unknown): number {
  return JSON.stringify(value).length * BYTES_PER_CHARACTER;
}
