// Opens an income session, or finds the existing one, and follows it to its end. income.tsx shows it.
import type { Answer, Api } from '../../api/api.js';
import type { IncomeSession } from '../../api/wire.js';
import { randomId } from '../../random-id.js';

/** With a screening, the service finds the session by its number. Without a screening, each key opens another session. */
export interface Opening {
  readonly screeningId: string | null;
  readonly attempt: number;
  readonly key: string;
  /** The consent to the inquiry. Null until the person has agreed. */
  readonly consent: Consent | null;
}

interface Consent {
  readonly terms_accepted_at: string;
  readonly terms_version: string;
  readonly terms_language: string;
}

/** The version of `consentLead` (src/modules/screening/domain/installation-terms.ts). */
const TERMS_VERSION = 'standard-income-1';

export function agreedTo(opening: Opening, language: string, at: Date): Opening {
  const consent = { terms_accepted_at: at.toISOString(), terms_version: TERMS_VERSION, terms_language: language };
  return { ...opening, consent };
}

export interface Surroundings {
  readonly api: Api;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Receives the session's state after every request. The last state has ended. */
  readonly seen: (session: IncomeSession) => void;
}

/** The pauses grow, and the last pause is repeated while the page is open. */
const PAUSES_MS = [500, 1_000, 1_500, 2_000, 3_000, 5_000, 8_000];
const LAST_PAUSE_MS = 10_000;
/** The first route starts before the reply arrives. */
const OPENING_LIMIT_MS = 30_000;

export function isOver({ status }: IncomeSession): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'EXPIRED';
}

/** The next session, after a failed session. */
export function another(opening: Opening): Opening {
  return { ...opening, attempt: opening.attempt + 1, key: randomId() };
}

/**
 * Returns a second opening of the same session. The service stores a refusal with its key, so a refused call needs a new key. A call without a reply
 * may have arrived, so it keeps its key.
 */
export function onceMore(opening: Opening, stoppedWith: number): Opening {
  return { ...opening, key: stoppedWith >= 400 && stoppedWith < 500 ? randomId() : opening.key };
}

/** Null if the session has ended or the screen was left; otherwise the answer that stopped it. */
export async function followIncome(
  { api, pause, seen }: Surroundings,
  { screeningId, attempt, key, consent }: Opening,
  signal: AbortSignal,
): Promise<Extract<Answer<IncomeSession>, { ok: false }> | null> {
  const wish =
    screeningId === null
      ? { body: { ...consent }, key }
      : // Sent without a key, because the service would repeat a refusal for a day after its cause has gone.
        { body: { screening_session_id: screeningId, attempt, ...consent }, key: null };
  const opening = { method: 'POST', path: '/voie/sessions', ...wish, timeoutMs: OPENING_LIMIT_MS } as const;
  const opened = await api.call<IncomeSession>(opening, signal);
  if (!opened.ok) return signal.aborted ? null : opened;
  const status = { method: 'GET', path: `/voie/sessions/${opened.body.income_session_id}/status` } as const;
  // Requests the state at once, because the reply to a repeated opening may contain an older state.
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
