// The screen without a report: the bureau refuses it, or this verification can bring none. The screen shows the reason, the cost, and the button with
// which the person continues.
import type { ComponentChildren } from 'preact';
import type { Journey, StepProps } from '../../journey.js';
import { useCountdown } from '../../parts/countdown.js';
import { fill, useTexts } from '../../parts/language.js';
import { duration } from '../../parts/refusals.js';
import { Alert, Button, StepFrame } from '../../parts/step.js';
import { Support } from '../../parts/support.js';
import { UNAVAILABLE, type UnavailableReason } from './unavailable-texts.js';

export interface UnavailableProps {
  readonly journey: Journey;
  readonly reasonCode: string;
  /** The seconds until the bureau is asked again. */
  readonly waitSeconds: number;
  readonly onAgain: () => void;
}

/** The bureau refuses the report. Shows which company set the lock, where to lift it, and the button that asks again. */
export function Unavailable({ journey, reasonCode, waitSeconds, onAgain }: UnavailableProps) {
  const texts = useTexts(UNAVAILABLE);
  const [wait] = useCountdown(waitSeconds);
  const reason = reasonIn(reasonCode);
  return (
    <NoReport
      journey={journey}
      problem={texts[reason]}
      cost={isPaid(journey) ? texts.notChargedAgain : texts.costsNothing}
      action={
        <>
          <Button disabled={wait > 0} onPress={onAgain}>
            {texts.tryAgain}
          </Button>
          <p class="hint">{wait > 0 ? fill(texts.wait, { time: duration(journey.language, wait) }) : texts.ready}</p>
        </>
      }
    >
      <p>{texts[`${reason}_what`]}</p>
      {reason === 'FILE_FROZEN' && (
        <p>
          <a href={texts.howToLiftUrl} target="_blank" rel="noopener noreferrer">
            {texts.howToLift}
          </a>
        </p>
      )}
    </NoReport>
  );
}

/** This verification can bring no report. The person verifies again, and the payment counts for the next verification. */
export function VerifyAgain({ journey }: StepProps) {
  const texts = useTexts(UNAVAILABLE);
  return (
    <NoReport
      journey={journey}
      problem={texts.VERIFY_AGAIN}
      cost={isPaid(journey) ? texts.notChargedAgain : texts.nothingToPay}
      action={<Button onPress={() => journey.startAgain()}>{texts.verifyAgain}</Button>}
    >
      <p>{texts.VERIFY_AGAIN_what}</p>
    </NoReport>
  );
}

interface NoReportProps {
  readonly journey: Journey;
  readonly problem: string;
  readonly cost: string;
  readonly action: ComponentChildren;
  readonly children: ComponentChildren;
}

function NoReport({ journey, problem, cost, action, children }: NoReportProps) {
  const texts = useTexts(UNAVAILABLE);
  return (
    <StepFrame sign="file" title={texts.title}>
      <Alert kind="problem" title={problem} focus>
        {children}
      </Alert>
      <p>{cost}</p>
      {action}
      <Support contact={journey.options.support} />
    </StepFrame>
  );
}

function isPaid({ session }: Journey): boolean {
  return session !== null && 'paymentStatus' in session && session.paymentStatus === 'SUCCEEDED';
}

/** A later service may have more reasons. */
function reasonIn(code: string): UnavailableReason {
  return Object.hasOwn(UNAVAILABLE.en, `${code}_what`) ? (code as UnavailableReason) : 'FILE_CONDITION';
}
