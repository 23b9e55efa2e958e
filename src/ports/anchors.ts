/**
 * A place outside the reach of the log's writers. Files are added to it, and nothing changes or removes them. A call ends or fails within ten seconds.
 */
export abstract class Anchor {
  /** For operators, such as `directory /mnt/worm`. */
  abstract readonly name: string;

  /** Adds a file. If the place has a file of this name, nothing happens. The file is durable when the call returns. */
  abstract add(name: string, content: Uint8Array): Promise<void>;

  /** The names of all files in the order of their characters. */
  abstract names(): AsyncIterable<string>;

  /** Null if the file does not exist. */
  abstract read(name: string): Promise<Buffer | null>;

  /** The reason why the place does not protect its files, as a sentence. Null if the place protects them, or cannot say so. */
  abstract weakness(): Promise<string | null>;
}

/** The anchors that are configured. */
export abstract class Anchors {
  abstract readonly list: readonly Anchor[];
}
