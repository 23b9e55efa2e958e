// Sends codes and answers for their steps, and reports the progress.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Session, SessionStatus } from '../../api/wire.js';
import { browser } from '../../browser.js';
import type { Journey } from '../../journey.js';
import { answerText } from '../../parts/refusals.js';
import { randomId } from '../../random-id.js';
import { giveAnswer, isFinal, isKept, isOpen, type Refused } from './judgement.js';
import { STEP_UP } from './texts.js';

export interface Answering {
  /** `checking`: the check takes longer than usual. */
  readonly stage: 'idle' | 'sending' | 'checking';
  /** The reason why the answer's result is unknown, for people. The same answer may be sent again. */
  readonly problem: string | null;
  /** Returns the session after a wrong answer when another answer is allowed; otherwise null. */
  readonly send: (body: object) => Promise<Session | null>;
}

export function useAnswer(journey: Journey, method: 'otp' | 'kba'): Answering {
  const [stage, setStage] = useState<Answering['stage']>('idle');
  const [problem, setProblem] = useState<string | null>(null);
  /** The answer whose result is unknown, and its key. */
  const unsettled = useRef<{ readonly content: string; readonly key: string } | null>(null);
  const signal = useGone();

  async function send(body: object): Promise<Session | null> {
    const { api, session } = journey;
    if (!session || stage !== 'idle') return null;
    const content = JSON.stringify(body);
    if (unsettled.current?.content !== content) unsettled.current = { content, key: randomId() };
    setProblem(null);
    setStage('sending');
    const judgement = await giveAnswer(
      { api, pause: browser.pause, checking: () => setStage('checking') },
      { method, before: session, body, key: unsettled.current.key },
      signal,
    );
    if (signal.aborted) return null;
    if (judgement.kind === 'refused') {
      await refused(judgement.answer);
      return null;
    }
    unsettled.current = null;
    setStage('idle');
    await journey.follow(judgement.session);
    return isOpen(judgement.session) ? judgement.session : null;
  }

  async function refused(answer: Refused): Promise<void> {
    const { language } = journey;
    if (isKept(answer)) unsettled.current = null;
    const stands = await whereItStands(journey, answer, signal);
    if (signal.aborted) return;
    // The answer verified the person, but its reply was lost. This is not a failure.
    if (stands?.status !== 'VERIFIED') {
      journey.fail(answer.error);
      setProblem(
        answer.error.code === 'ATTEMPT_IN_PROGRESS' ? STEP_UP[language].inProgress : answerText(language, answer),
      );
    }
    setStage('idle');
    if (stands) await journey.follow(stands);
  }

  return { stage, problem, send };
}

/**
 * For a final refusal, when the session's state differs from the state in the frame. Null if the state cannot be read, or if the refusal is not
 * final.
 */
export async function whereItStands(
  { api, session }: Journey,
  refused: Refused,
  signal: AbortSignal,
): Promise<SessionStatus | null> {
  if (!session || !isFinal(refused)) return null;
  const call = { method: 'GET', path: `/screening/${session.id}/status` } as const;
  const status = await api.call<SessionStatus>(call, signal);
  return status.ok ? status.body : null;
}

/** Aborts when the screen that uses it is removed. */
export function useGone(): AbortSignal {
  const [gone] = useState(() => new AbortController());
  useEffect(() => () => gone.abort(), []);
  return gone.signal;
}
