import type { ActorKind } from '../kernel/actor.js';

/** The steps of a report on its way, as servers see them (docs/contract/server.md#timeline). */
export const REPORT_STEPS = [
  'report.requested',
  'report.released',
  'report.refused',
  'report.failed',
  'report.awaited',
  'report.pulls_ended',
  'report.shared',
  'report.revoked',
] as const;

/** A step in the history of a session. It contains no personal data. */
export interface HistoryStep<Type extends string> {
  /** The place of the step's event in the log. */
  readonly position: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly type: Type;
  readonly actor: ActorKind;
  /** Words, numbers and times. */
  readonly detail: Readonly<Record<string, string | number | readonly string[] | null>>;
}

/** The reports module, for the timeline of a session. */
export abstract class ReportHistory {
  abstract of(sessionId: string): Promise<readonly HistoryStep<(typeof REPORT_STEPS)[number]>[]>;
}
