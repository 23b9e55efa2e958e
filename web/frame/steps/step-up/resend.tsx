// Requests another code, and shows the wait within the button. The seconds are not announced, because a screen reader would speak each second.
import { useRef, useState } from 'preact/hooks';
import { isJudged } from '../../api/api.js';
import type { Session } from '../../api/wire.js';
import type { Journey } from '../../journey.js';
import { announce } from '../../parts/announcer.js';
import { useCountdown } from '../../parts/countdown.js';
import { fill, useTexts } from '../../parts/language.js';
import { answerText, duration } from '../../parts/refusals.js';
import { Alert } from '../../parts/step.js';
import { randomId } from '../../random-id.js';
import type { Refused } from './judgement.js';
import { STEP_UP } from './texts.js';
import { useGone, whereItStands } from './use-answer.js';

export interface ResendProps {
  readonly journey: Journey;
  /** The vendor is judging an answer. */
  readonly locked: boolean;
  /** Called when a new code has been sent. */
  readonly sent: () => void;
}

export function Resend({ journey, locked, sent }: ResendProps) {
  const texts = useTexts(STEP_UP);
  const [wait, setWait] = useCountdown(
    journey.session?.id === journey.start.screeningId ? 0 : journey.options.otpResendInterval,
  );
  const [stage, setStage] = useState<'idle' | 'sending' | 'sent' | 'over'>('idle');
  const [problem, setProblem] = useState<string | null>(null);
  const key = useRef<string | null>(null);
  const signal = useGone();

  async function resend(): Promise<void> {
    const { session, api, options } = journey;
    if (!session) return;
    key.current ??= randomId();
    setProblem(null);
    setStage('sending');
    const call = { method: 'POST', path: `/screening/${session.id}/otp/resend`, key: key.current, timeoutMs: LIMIT_MS };
    const answer = await api.call<Session>({ ...call, method: 'POST' }, signal);
    if (signal.aborted) return;
    if (isJudged(answer)) key.current = null;
    if (answer.ok) {
      setStage('sent');
      setWait(options.otpResendInterval);
      announce(texts.resent);
      sent();
      return journey.follow(answer.body);
    }
    return failed(answer);
  }

  async function failed(answer: Refused): Promise<void> {
    journey.fail('SCREENING_OTP_RESEND_FAILED');
    setStage(answer.error.code === 'TOO_MANY_ATTEMPTS' ? 'over' : 'idle');
    if (answer.error.code === 'TOO_MANY_ATTEMPTS') return setProblem(texts.resendOver);
    if (answer.status === 429 && answer.retryAfterSeconds !== null) {
      setWait(answer.retryAfterSeconds);
      return setProblem(texts.resendFailed);
    }
    const inProgress = answer.error.code === 'ATTEMPT_IN_PROGRESS';
    const reason = inProgress ? texts.inProgress : answerText(journey.language, answer);
    setProblem(`${texts.resendFailed} ${reason}`);
    const stands = await whereItStands(journey, answer, signal);
    if (stands && !signal.aborted) await journey.follow(stands);
    return undefined;
  }

  const waits = wait > 0;
  return (
    <>
      {problem && <Alert>{problem}</Alert>}
      {stage === 'sent' && waits && <p>{texts.resent}</p>}
      {stage !== 'over' && (
        <Ask wait={wait} sending={stage === 'sending'} locked={locked} onPress={() => void resend()}>
          {waits ? fill(texts.resendWait, { time: duration(journey.language, wait) }) : texts.resend}
        </Ask>
      )}
    </>
  );
}

interface AskProps {
  readonly wait: number;
  readonly sending: boolean;
  readonly locked: boolean;
  readonly onPress: () => void;
  readonly children: string;
}

/** The button keeps the focus while it waits, so it is never disabled. The spinner appears only after a press of this button. */
function Ask({ wait, sending, locked, onPress, children }: AskProps) {
  const inert = wait > 0 || locked || sending;
  return (
    <button
      type="button"
      class="button link"
      aria-disabled={inert || undefined}
      aria-busy={sending || undefined}
      onClick={() => {
        if (!inert) onPress();
      }}
    >
      {sending && <span class="wheel" aria-hidden="true" />}
      <span>{children}</span>
    </button>
  );
}

/** The service itself waits 20 seconds for the vendor. */
const LIMIT_MS = 30_000;
