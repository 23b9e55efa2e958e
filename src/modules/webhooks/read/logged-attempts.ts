// The attempts that the delivery log shows.
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import type { AttemptOutcome, DeliveryEvent } from '../domain/delivery.js';

/** One attempt. The outcome of an attempt is null when an earlier release started it and the log has no end of the attempt. */
export interface LoggedAttempt {
  readonly attempt: number;
  readonly attemptedAt: string;
  readonly outcome: AttemptOutcome | null;
}

/** The newest attempts are shown, because a delivery may have any number of redeliveries. The log has all attempts. */
const MAX_ATTEMPTS_SHOWN = 50;

/** The attempts after the event, which happened at that time. */
export function withAttempt(
  attempts: readonly LoggedAttempt[],
  event: RecordedEvent & DeliveryEvent,
  at: string,
): readonly LoggedAttempt[] {
  switch (event.type) {
    case 'DeliveryAttemptStarted':
      return [...attempts, { attempt: event.data.attempt, attemptedAt: at, outcome: null }].slice(-MAX_ATTEMPTS_SHOWN);
    case 'DeliverySucceeded':
    case 'DeliveryAttemptFailed': {
      const { attempt, startedAt, errorCode, httpStatus, latencyMs, excerpt } = event.data;
      const started = attempts.find((one) => one.attempt === attempt);
      const made = {
        attempt,
        attemptedAt: startedAt ?? started?.attemptedAt ?? at,
        outcome: { errorCode, httpStatus, latencyMs, excerpt },
      };
      return [...attempts.filter((one) => one !== started), made].slice(-MAX_ATTEMPTS_SHOWN);
    }
    default:
      return attempts;
  }
}
