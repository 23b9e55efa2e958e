// The options of `init`, after reading.
import type { Appearance } from '../contract/options.js';

export interface Settings {
  readonly publishableKey: string;
  /** Without a trailing slash, like `embeddedUrl`. */
  readonly baseUrl: string;
  readonly embeddedUrl: string;
  readonly sessionToken: string | null;
  readonly locale: string | null;
  readonly appearance: Appearance;
}
