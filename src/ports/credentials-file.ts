import type { JsonObject } from '../kernel/json.js';

/**
 * Where the demo credentials are written for the person who tries the service; outside production only. Readable by the
 * owner alone, and never seen half written.
 */
export abstract class CredentialsFile {
  /** Null when there is none; empty when it holds something else than a JSON object. */
  abstract read(): Promise<JsonObject | null>;

  /** Writes it unless it exists; false when another process wrote it before. */
  abstract create(content: JsonObject): Promise<boolean>;

  /** Writes it whether or not it exists. */
  abstract replace(content: JsonObject): Promise<void>;
}
