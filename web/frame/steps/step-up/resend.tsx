// Requests another code, and shows the wait before it. The seconds are not announced, because a screen reader would speak each.
import { useRef, useState } from 'preact/hooks';
import { isJudged } from '../../api/api.js';
import type { Session } from '../../api/wire.js';
import type { Journey } from '../../journey.js';
import { announce } from '../../parts/announcer.js';
import { useCountdown } from '../../parts/countdown.js';
import { fill, useTexts } from '../../parts/language.js';
import { answerText, duration } from '../../parts/refusals.js';
import { Alert, Button } from '../../parts/step.js';
import { randomId } from '../../random-id.js';
import type { Refused } from './judgement.js';
import { STEP_UP } from './texts.js';
import { useGone, whereItStands } from './use-answer.js';

export interface ResendProps {
  readonly journey: Journey;
  /** The vendor is judging an answer. */
  readonly busy: boolean;
  /** Called when a new code is on its way. */
  readonly sent: () => void;
}

export function Resend({ journey, busy, sent }: ResendProps) {
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

  return (
    <div class="stack">
      {problem && <Alert>{problem}</Alert>}
      {stage === 'sent' && wait > 0 && <p>{texts.resent}</p>}
      {wait > 0 && stage !== 'over' && (
        <p class="hint">{fill(texts.resendWait, { time: duration(journey.language, wait) })}</p>
      )}
      {wait === 0 && stage !== 'over' && (
        <Button kind="secondary" busy={busy || stage === 'sending'} onPress={() => void resend()}>
          {texts.resend}
        </Button>
      )}
    </div>
  );
}

/** The service itself waits 20 seconds for the vendor. */
const LIMIT_MS = 30_000;
