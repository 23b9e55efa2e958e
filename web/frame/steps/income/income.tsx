// Proof of income and employment. The person agrees, and then sees the progress.
import { useEffect, useState } from 'preact/hooks';
import type { IncomeSession } from '../../api/wire.js';
import { browser } from '../../browser.js';
import type { StepProps } from '../../journey.js';
import { fill, useTexts } from '../../parts/language.js';
import { answerText } from '../../parts/refusals.js';
import { Alert, Button, Spinner, StepFrame, TakesFocus } from '../../parts/step.js';
import { Support } from '../../parts/support.js';
import { randomId } from '../../random-id.js';
import { agreedTo, another, followIncome, isOver, onceMore, type Opening } from './inquiry.js';
import { INCOME } from './texts.js';

type Stopped = Exclude<Awaited<ReturnType<typeof followIncome>>, null>;

export function IncomeStep({ journey }: StepProps) {
  const texts = useTexts(INCOME);
  const [opening, setOpening] = useState<Opening>(() => ({
    screeningId: journey.start.screeningId,
    attempt: 1,
    key: randomId(),
    consent: null,
  }));
  /** No inquiry begins about a person who has not agreed. */
  const agreed = opening.consent !== null;
  const [session, setSession] = useState<IncomeSession | null>(null);
  const [stopped, setStopped] = useState<Stopped | null>(null);

  useEffect(() => {
    if (!agreed) return undefined;
    const gone = new AbortController();
    const surroundings = { api: journey.api, pause: browser.pause, seen };
    void followIncome(surroundings, opening, gone.signal).then((refusal) => {
      if (!refusal) return;
      journey.fail(refusal.error);
      setStopped(refusal);
    });
    return () => gone.abort();
  }, [opening]);

  function seen(now: IncomeSession): void {
    setSession(now);
    if (isOver(now)) tellEnd(journey, now);
  }

  const page = session && pageOf(session);

  function tryAgain(next: Opening): void {
    setStopped(null);
    setSession(null);
    setOpening(next);
  }

  return (
    // A person whose pressed button has disappeared continues at the heading.
    <TakesFocus.Provider value={agreed}>
      {!agreed ? (
        <StepFrame
          key="consent"
          title={texts.consentTitle}
          lead={fill(texts.consentLead, { account: journey.account })}
        >
          <Button onPress={() => setOpening(agreedTo(opening, journey.language, new Date()))}>{texts.agree}</Button>
          <Support contact={journey.options.support} />
        </StepFrame>
      ) : stopped ? (
        <StepFrame key="stopped" sign="stopped" title={texts.stopped}>
          <Alert>{answerText(journey.language, stopped)}</Alert>
          <Button onPress={() => tryAgain(onceMore(opening, stopped.status))}>{texts.again}</Button>
          <Support contact={journey.options.support} />
        </StepFrame>
      ) : session && isOver(session) && session.status !== 'COMPLETED' ? (
        <StepFrame key="failed" sign="unknown" title={texts.failed}>
          <Alert title={texts[whyOf(session)]}>
            <p>{fill(texts.failedLead, { account: journey.account })}</p>
          </Alert>
          <Button onPress={() => tryAgain(another(opening))}>{texts.again}</Button>
          <Support contact={journey.options.support} />
        </StepFrame>
      ) : page ? (
        // Another round has another address. Its screen announces itself again.
        <StepFrame key={page} title={texts.userTitle} lead={texts.userLead}>
          <a class="button primary" href={page} target="_blank" rel="noopener noreferrer">
            {texts.openVendor}
          </a>
          <Spinner text={texts.waiting} />
          <Support contact={journey.options.support} />
        </StepFrame>
      ) : (
        <StepFrame key="open" title={texts.title} lead={texts.lead}>
          <Spinner text={session ? texts[session.route] : texts.opening} />
        </StepFrame>
      )}
    </TakesFocus.Provider>
  );
}

/** The vendor's page for the person. Null for every other scheme, which could run a script here. */
function pageOf({ user_action: action }: IncomeSession): string | null {
  return action?.url !== undefined && /^https?:\/\//.test(action.url) ? action.url : null;
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
