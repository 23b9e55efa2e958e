// What `init` was told, read.
import type { Appearance } from '../contract/options.js';

export interface Settings {
  readonly publishableKey: string;
  /** Without a trailing slash, as is `embeddedUrl`. */
  readonly baseUrl: string;
  readonly embeddedUrl: string;
  readonly sessionToken: string | null;
  readonly locale: string | null;
  readonly appearance: Appearance;
}
