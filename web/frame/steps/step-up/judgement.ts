// Sends a person's answer to the API, and waits until the answer is judged. use-answer.ts shows the result.
import type { Answer, Api, Call } from '../../api/api.js';
import type { Session, SessionStatus } from '../../api/wire.js';

export type Refused = Extract<Answer<unknown>, { ok: false }>;

export type Judgement =
  /** The session has changed its step, or the answer was wrong and the session is still open. */
  { readonly kind: 'judged'; readonly session: Session } | { readonly kind: 'refused'; readonly answer: Refused };

export interface GivenAnswer {
  readonly method: 'otp' | 'kba';
  /** The session's state before the answer. */
  readonly before: Session;
  readonly body: object;
  /** An equal answer keeps its key while the result is unknown. */
  readonly key: string;
}

export interface Surroundings {
  readonly api: Api;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called when the vendor has the answer and the status is requested until the answer is judged. */
  readonly checking: () => void;
}

/** The service itself waits 20 seconds for the vendor. */
const ANSWER_LIMIT_MS = 30_000;
/** Half a minute in total. Then the person decides. */
const PAUSES_MS = [1_000, 2_000, 3_000, 4_000, 5_000, 5_000, 5_000, 5_000];

/** After these codes, the vendor may still judge this answer, or an earlier answer. */
const WITH_THE_VENDOR = ['ATTEMPT_IN_PROGRESS', 'UPSTREAM_TIMEOUT'];

const STILL_OPEN: Refused = {
  ok: false,
  status: 409,
  error: {
    code: 'ATTEMPT_IN_PROGRESS',
    message: 'Another answer of this session is with the vendor.',
    recoverable: true,
  },
  retryAfterSeconds: null,
};

export async function giveAnswer(
  { api, pause, checking }: Surroundings,
  { method, before, body, key }: GivenAnswer,
  signal: AbortSignal,
): Promise<Judgement> {
  const call: Call = {
    method: 'POST',
    path: `/screening/${before.id}/${method}`,
    body,
    key,
    timeoutMs: ANSWER_LIMIT_MS,
    judged: true,
  };
  const answer = await api.call<Session>(call, signal);
  // An open session without a count has had no wrong answer yet, so this answer is still at the vendor.
  if (answer.ok && !(isOpen(answer.body) && answer.body.attemptsRemaining === undefined))
    return { kind: 'judged', session: answer.body };
  if (!answer.ok && !WITH_THE_VENDOR.includes(answer.error.code)) return { kind: 'refused', answer };
  checking();
  for (const pauseMs of PAUSES_MS) {
    await pause(pauseMs, signal);
    if (signal.aborted) break;
    const status = await api.call<SessionStatus>({ method: 'GET', path: `/screening/${before.id}/status` }, signal);
    if (status.ok && isJudged(before, status.body)) return { kind: 'judged', session: status.body };
  }
  return { kind: 'refused', answer: answer.ok ? STILL_OPEN : answer };
}

/** Whether an answer was judged between these two states. */
export function isJudged(before: Session, after: Session): boolean {
  return !isOpen(after) || after.attemptsRemaining !== before.attemptsRemaining;
}

export function isOpen({ status }: Session): boolean {
  return status === 'STEP_UP_REQUIRED' || status === 'OTP_PENDING' || status === 'KBA_PENDING';
}

/** A refusal that another try would not change: the session's state differs from the state in the frame. */
export function isFinal({ status }: Refused): boolean {
  return status >= 400 && status < 500 && status !== 409 && status !== 429;
}

/** Whether the API stored this refusal under the answer's key and would repeat it. The same answer then needs another key. */
export function isKept(refused: Refused): boolean {
  return isFinal(refused) && refused.status !== 401;
}
