// Text as people type and paste it. The service and the component's frame must read it in the same way.
import { readFileSync } from 'node:fs';

interface RealWorld {
  /** Each text as given, and as it is simplified. */
  readonly folded: readonly (readonly [string, string])[];
  readonly names: Judged<string>;
  readonly phones: Judged<readonly [given: string, digits: string]>;
  readonly states: Judged<string>;
  readonly zips: Judged<readonly [given: string, written: string]>;
  readonly mail: Judged<string>;
}

interface Judged<Taken> {
  readonly taken: readonly Taken[];
  readonly refused: readonly string[];
}

export const REAL_WORLD = JSON.parse(
  readFileSync(new URL('../fixtures/text/real-world.json', import.meta.url), 'utf8'),
) as RealWorld;
