// Opens an income session, or finds the one that there is, and follows it to its end. income.tsx shows it.
import type { Answer, Api } from '../../api/api.js';
import type { IncomeSession } from '../../api/wire.js';
import { randomId } from '../../random-id.js';

export interface Surroundings {
  readonly api: Api;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** How the session stands; the last time when it is over. */
  readonly seen: (session: IncomeSession) => void;
}

/** Growing, and then for as long as the page is open. */
const PAUSES_MS = [500, 1_000, 1_500, 2_000, 3_000, 5_000, 8_000];
const LAST_PAUSE_MS = 10_000;
/** The first route is begun before the reply. */
const OPENING_LIMIT_MS = 30_000;

/**
 * What an opening is sent with. The sessions of a screening are named after it and after the one that failed before, so that whoever
 * opens the view again within a day, on whatever device, finds the same session and not a second one.
 */
export function openingKey(screeningId: string | null, failed: IncomeSession | null): string {
  if (screeningId === null) return randomId();
  return ['income', screeningId, ...(failed ? [failed.income_session_id] : [])].join(':');
}

export function isOver({ status }: IncomeSession): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'EXPIRED';
}

/** Null when the session is over or nobody waits any more; else what stopped it. */
export async function followIncome(
  { api, pause, seen }: Surroundings,
  { screeningId, key }: { readonly screeningId: string | null; readonly key: string },
  signal: AbortSignal,
): Promise<Extract<Answer<IncomeSession>, { ok: false }> | null> {
  const body = screeningId === null ? {} : { screening_session_id: screeningId };
  const opening = { method: 'POST', path: '/voie/sessions', body, key, timeoutMs: OPENING_LIMIT_MS } as const;
  const opened = await api.call<IncomeSession>(opening, signal);
  if (!opened.ok) return signal.aborted ? null : opened;
  const status = { method: 'GET', path: `/voie/sessions/${opened.body.income_session_id}/status` } as const;
  // At once, because the reply to an opening that was made before says how the session stood then.
  for (let look = 0; !signal.aborted; look += 1) {
    const answer = await api.call<IncomeSession>(status, signal);
    if (signal.aborted) break;
    if (!answer.ok) return answer;
    seen(answer.body);
    if (isOver(answer.body)) break;
    await pause(PAUSES_MS[look] ?? LAST_PAUSE_MS, signal);
  }
  return null;
}
