// Sends codes and answers for their steps, and says how that stands.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Session, SessionStatus } from '../../api/wire.js';
import { browser } from '../../browser.js';
import type { Journey } from '../../journey.js';
import { answerText } from '../../parts/refusals.js';
import { randomId } from '../../random-id.js';
import { giveAnswer, isFinal, isKept, isOpen, type Refused } from './judgement.js';
import { STEP_UP } from './texts.js';

export interface Answering {
  /** `checking`: it takes longer than usual. */
  readonly stage: 'idle' | 'sending' | 'checking';
  /** Why it is not known whether the answer is right, for people; the same answer may be sent again. */
  readonly problem: string | null;
  /** The session as it is after a wrong answer, as long as another may follow; null otherwise. */
  readonly send: (body: object) => Promise<Session | null>;
}

export function useAnswer(journey: Journey, method: 'otp' | 'kba'): Answering {
  const [stage, setStage] = useState<Answering['stage']>('idle');
  const [problem, setProblem] = useState<string | null>(null);
  /** The answer whose end is not known, and the key that it was sent with. */
  const unsettled = useRef<{ readonly content: string; readonly key: string } | null>(null);
  const signal = useGone();

  async function send(body: object): Promise<Session | null> {
    const { api, session, language } = journey;
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
      const { answer } = judgement;
      if (isKept(answer)) unsettled.current = null;
      const stands = await whereItStands(journey, answer, signal);
      if (signal.aborted) return null;
      // Verified by an answer whose reply was lost: nothing has failed.
      if (stands?.status !== 'VERIFIED') {
        journey.fail(answer.error);
        setProblem(
          answer.error.code === 'ATTEMPT_IN_PROGRESS' ? STEP_UP[language].inProgress : answerText(language, answer),
        );
      }
      setStage('idle');
      if (stands) await journey.follow(stands);
      return null;
    }
    unsettled.current = null;
    setStage('idle');
    await journey.follow(judgement.session);
    return isOpen(judgement.session) ? judgement.session : null;
  }

  return { stage, problem, send };
}

/** After a refusal that is final: the session is not as the frame believes. Null where it cannot be read, or is no other. */
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

/** Says when the screen that asks for it is gone. */
export function useGone(): AbortSignal {
  const [gone] = useState(() => new AbortController());
  useEffect(() => () => gone.abort(), []);
  return gone.signal;
}
