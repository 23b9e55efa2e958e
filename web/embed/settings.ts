// The options of `init` after they were read. `update` changes the last two.
import type { Appearance } from '../contract/options.js';

export interface Settings {
  readonly publishableKey: string;
  /** Without a trailing slash, like `embeddedUrl`. */
  readonly baseUrl: string;
  readonly embeddedUrl: string;
  readonly sessionToken: string | (() => unknown) | null;
  locale: string | null;
  appearance: Appearance;
}
