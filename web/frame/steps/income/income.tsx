// Proof of income and employment: nothing to type, the person watches.
import { useEffect, useState } from 'preact/hooks';
import type { IncomeSession } from '../../api/wire.js';
import { browser } from '../../browser.js';
import type { StepProps } from '../../journey.js';
import { useTexts } from '../../parts/language.js';
import { answerText } from '../../parts/refusals.js';
import { Alert, Button, Spinner, StepFrame, TakesFocus } from '../../parts/step.js';
import { followIncome, isOver, openingKey } from './inquiry.js';
import { INCOME } from './texts.js';

/** An opening: another key is another wish. `round` counts how often it was tried. */
interface Opening {
  readonly key: string;
  readonly round: number;
}

export function IncomeStep({ journey }: StepProps) {
  const texts = useTexts(INCOME);
  const { screeningId } = journey.start;
  const [opening, setOpening] = useState<Opening>(() => ({ key: openingKey(screeningId, null), round: 0 }));
  const [session, setSession] = useState<IncomeSession | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  useEffect(() => {
    const gone = new AbortController();
    const surroundings = { api: journey.api, pause: browser.pause, seen };
    void followIncome(surroundings, { screeningId, key: opening.key }, gone.signal).then((stopped) => {
      if (!stopped) return;
      journey.fail(stopped.error);
      setProblem(answerText(journey.language, stopped));
    });
    return () => gone.abort();
  }, [opening]);

  function seen(now: IncomeSession): void {
    setSession(now);
    if (isOver(now)) tellEnd(journey, now);
  }

  function tryAgain(key: string): void {
    setProblem(null);
    setSession(null);
    setOpening({ key, round: opening.round + 1 });
  }

  return (
    // Who pressed a button that is gone goes on from the heading; who only waits may be somewhere else in the page.
    <TakesFocus.Provider value={opening.round > 0}>
      {problem !== null ? (
        <StepFrame key="stopped" title={texts.stopped}>
          <Alert>{problem}</Alert>
          <Button onPress={() => tryAgain(opening.key)}>{texts.again}</Button>
        </StepFrame>
      ) : session && isOver(session) && session.status !== 'COMPLETED' ? (
        <StepFrame key="failed" title={texts.failed}>
          <Alert title={texts[whyOf(session)]}>
            <p>{texts.failedLead}</p>
          </Alert>
          <Button onPress={() => tryAgain(openingKey(screeningId, session))}>{texts.again}</Button>
        </StepFrame>
      ) : (
        <StepFrame key="open" title={texts.title} lead={texts.lead}>
          <Spinner text={session ? texts[session.route] : texts.opening} />
        </StepFrame>
      )}
    </TakesFocus.Provider>
  );
}

function whyOf({ status, reason_code }: IncomeSession): 'expired' | 'noMatch' | 'vendorError' {
  if (status === 'EXPIRED') return 'expired';
  return reason_code === 'NO_MATCH' ? 'noMatch' : 'vendorError';
}

function tellEnd(journey: StepProps['journey'], session: IncomeSession): void {
  const { status, reason_code: reasonCode = status } = session;
  const about = { incomeSessionId: session.income_session_id, route: session.route };
  if (status !== 'COMPLETED') return journey.tell('onIncomeReportFailure', { ...about, reasonCode });
  journey.tell('onIncomeReportComplete', about);
  journey.next();
}
