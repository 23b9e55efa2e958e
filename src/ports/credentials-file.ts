import type { JsonObject } from '../kernel/json.js';

/** The file of demo credentials, which exists only outside production. Only its owner can read it, and a reader never sees an incomplete file. */
export abstract class CredentialsFile {
  /** Null if no file exists; empty if the content is not a JSON object. */
  abstract read(): Promise<JsonObject | null>;

  /** Writes the file unless it exists. False if another process wrote it before. */
  abstract create(content: JsonObject): Promise<boolean>;

  /** Writes or replaces the file. */
  abstract replace(content: JsonObject): Promise<void>;
}
