// The bureau refuses the report: why, whose lock it is, where it is lifted, and the button that asks again.
import { useEffect } from 'preact/hooks';
import type { Journey } from '../../journey.js';
import { useCountdown } from '../../parts/countdown.js';
import { fill, useTexts } from '../../parts/language.js';
import { duration } from '../../parts/refusals.js';
import { Alert, Button, StepFrame } from '../../parts/step.js';
import { Support } from '../../parts/support.js';
import { UNAVAILABLE, type UnavailableReason } from './unavailable-texts.js';

export interface UnavailableProps {
  readonly journey: Journey;
  readonly reasonCode: string;
  /** Until the bureau is asked again. */
  readonly waitSeconds: number;
  readonly onAgain: () => void;
}

export function Unavailable({ journey, reasonCode, waitSeconds, onAgain }: UnavailableProps) {
  const texts = useTexts(UNAVAILABLE);
  const [wait] = useCountdown(waitSeconds);
  const reason = reasonIn(reasonCode);
  const { session, options, language } = journey;
  const paid = session !== null && 'paymentStatus' in session && session.paymentStatus === 'SUCCEEDED';

  useEffect(() => {
    if (session) journey.tell('onReportUnavailable', { sessionId: session.id, reasonCode });
  }, []);

  return (
    <StepFrame title={texts.title}>
      <Alert kind="problem" title={texts[reason]} focus>
        <p>{texts[`${reason}_what`]}</p>
        {reason === 'FILE_FROZEN' && (
          <p>
            <a href={texts.howToLiftUrl} target="_blank" rel="noopener noreferrer">
              {texts.howToLift}
            </a>
          </p>
        )}
      </Alert>
      <p>{paid ? texts.notChargedAgain : texts.costsNothing}</p>
      <Button disabled={wait > 0} onPress={onAgain}>
        {texts.tryAgain}
      </Button>
      <p class="hint">{wait > 0 ? fill(texts.wait, { time: duration(language, wait) }) : texts.ready}</p>
      <Support contact={options.support} />
    </StepFrame>
  );
}

/** A later service may know more reasons. */
function reasonIn(code: string): UnavailableReason {
  return Object.hasOwn(UNAVAILABLE.en, `${code}_what`) ? (code as UnavailableReason) : 'FILE_CONDITION';
}
