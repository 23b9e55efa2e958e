import type { Condition } from './conditions.js';

export interface RefusalDetail {
  /** Wire name of the field at fault. */
  readonly field?: string;
  /** Every field at fault, when there are several. Messages never quote the value. */
  readonly details?: readonly { readonly field: string; readonly message: string }[];
  /** Whole seconds after which trying again makes sense. */
  readonly retryAfterSeconds?: number;
  /** For the log only, never for the caller. */
  readonly cause?: unknown;
}

/** It may not happen. The one exception that domain and application throw on purpose. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly condition: Condition,
    readonly detail: RefusalDetail = {},
  ) {
    super(condition, detail.cause === undefined ? undefined : { cause: detail.cause });
  }
}
