import type { Condition } from './conditions.js';

export interface RefusalDetail {
  /** Wire name of the field at fault. */
  readonly field?: string;
  /** Every field at fault and its rule, such as `must have five digits`. Messages never quote the value. */
  readonly details?: readonly { readonly field: string; readonly message: string }[];
  /** The rule that was broken, a whole sentence, where no field of the request stands for it. */
  readonly rule?: string;
  /** The screening session that the refused request has opened. */
  readonly sessionId?: string;
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
