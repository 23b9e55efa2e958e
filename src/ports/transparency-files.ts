/**
 * The files of the transparency log: `checkpoint`, `policy`, and the tiles below `tile/`. Every caller may read them. A path has only lowercase
 * letters, digits, dots and slashes. A call that ends without an error has made its change durable. A reader sees either the whole old file or the
 * whole new file, even after a killed process or on a full disk.
 */
export abstract class TransparencyFiles {
  /** Null if the file does not exist. */
  abstract read(path: string): Promise<Buffer | null>;

  abstract write(path: string, content: Uint8Array): Promise<void>;

  /** Returns false and writes nothing when the content is no longer `before`. Null stands for no file. */
  abstract replace(path: string, before: string | null, content: string): Promise<boolean>;

  /** The names in a folder. Empty if the folder does not exist. */
  abstract list(folder: string): Promise<readonly string[]>;

  /** Removes a file, or a folder with its files. Nothing happens if the path does not exist. */
  abstract remove(path: string): Promise<void>;
}

/** The text of SEAL_SIGNING_KEY, or of the development key. */
export abstract class SealSigningKey {
  abstract readonly text: string;
}
