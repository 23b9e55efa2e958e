// Reads screening sessions from the log, and compares them with the answers that callers got.
import { join } from 'node:path';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { categoryOf, type RecordedEvent } from '../../src/kernel/domain-event.js';
import { attemptOf, screeningSession } from '../../src/modules/screening/domain/screening-session.js';
import type { SessionEvent, SessionState } from '../../src/modules/screening/domain/session.js';

const FINAL = new Set(['VERIFIED', 'BLOCKED', 'EXPIRED', 'ERROR']);

/** Sessions in the log with a vendor call under way. */
export async function unsettled(dataDir: string): Promise<string[]> {
  const states = new Map<string, SessionState>();
  for (const event of await sessionEvents(dataDir)) {
    const before = states.get(event.stream) ?? screeningSession.initial;
    states.set(event.stream, screeningSession.evolve(before, event as unknown as SessionEvent));
  }
  return [...states].filter(([, state]) => attemptOf(state) !== null).map(([stream]) => stream);
}

/** Every event of every screening session, from the log on disk. A service may have the log open. */
export async function sessionEvents(dataDir: string): Promise<RecordedEvent[]> {
  const store = EmbeddedEventStore.open({ directory: join(dataDir, 'events') });
  try {
    const events: RecordedEvent[] = [];
    for (let after: string | null = null; ;) {
      const page: RecordedEvent[] = await store.readAll(after, 1_000);
      events.push(...page.filter(({ stream }) => categoryOf(stream) === screeningSession.category));
      after = page.at(-1)?.position ?? after;
      if (page.length < 1_000) return events;
    }
  } finally {
    await store.close();
  }
}

/** Whether a session may change from the acknowledged status to its present status. */
export function follows(before: string, after: string): boolean {
  const order = ['SUBMITTED', 'STEP_UP_REQUIRED', 'OTP_PENDING', 'KBA_PENDING'];
  return before === after || (!FINAL.has(before) && (FINAL.has(after) || order.indexOf(after) > order.indexOf(before)));
}
