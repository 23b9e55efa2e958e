// The screens between and after the steps, and the screen for a step that cannot be shown.
import { useEffect, useState } from 'preact/hooks';
import type { Language } from '../contract/language.js';
import type { SessionStatus } from './api/wire.js';
import { browser } from './browser.js';
import type { StepProps } from './journey.js';
import { fill, useTexts } from './parts/language.js';
import { Leave } from './parts/leave.js';
import { refusalText } from './parts/refusals.js';
import { Alert, Button, Spinner, StepFrame } from './parts/step.js';
import { Support } from './parts/support.js';
import { PARTS } from './parts/texts.js';
import type { Shown } from './flow.js';
import { FRAME } from './texts.js';

/** About two minutes in total. The service itself continues to ask the vendor. */
const PAUSES_MS = [1_000, 2_000, 3_000, 5_000, 8_000, ...Array<number>(10).fill(10_000)];

/** An hour in total. People at the vendor need hours or days. */
const REVIEW_PAUSES_MS = Array<number>(60).fill(60_000);

/**
 * The vendor has not answered yet, or its people check the person. Requests the status until it changes; after some time the person decides.
 */
export function Waiting({ journey }: StepProps) {
  const texts = useTexts(FRAME);
  const [round, setRound] = useState(0);
  const [slow, setSlow] = useState(false);
  const [reviewed, setReviewed] = useState(journey.session?.reviewUntil !== undefined);
  const id = journey.session?.id ?? '';

  useEffect(() => {
    const gone = new AbortController();
    setSlow(false);
    void (async () => {
      for (const pauseMs of reviewed ? REVIEW_PAUSES_MS : PAUSES_MS) {
        await browser.pause(pauseMs, gone.signal);
        if (gone.signal.aborted) return;
        const call = { method: 'GET', path: `/screening/${id}/status` } as const;
        const answer = await journey.api.call<SessionStatus>(call, gone.signal);
        if (gone.signal.aborted) return;
        if (answer.ok && answer.body.status !== 'SUBMITTED') return journey.follow(answer.body);
        if (answer.ok && answer.body.reviewUntil !== undefined && !reviewed) return setReviewed(true);
        if (isRefused(answer)) break;
      }
      setSlow(true);
    })();
    return () => gone.abort();
  }, [round, reviewed]);

  const again = <Button onPress={() => setRound(round + 1)}>{texts.check}</Button>;
  if (reviewed)
    return (
      <StepFrame key="review" title={texts.review} lead={texts.reviewLead}>
        {again}
      </StepFrame>
    );
  if (!slow)
    return (
      <StepFrame title={texts.waiting} lead={texts.waitingLead}>
        <Spinner />
      </StepFrame>
    );
  return (
    <StepFrame key="slow" title={texts.stillWaiting} lead={texts.stillWaitingLead}>
      {again}
    </StepFrame>
  );
}

function isRefused({ ok, status }: { readonly ok: boolean; readonly status: number }): boolean {
  return !ok && status > 0 && status < 500;
}

/** An agent or an organization has finished. */
export function Verified({ journey }: StepProps) {
  const texts = useTexts(FRAME);
  return <Good journey={journey} title={texts.verified} lead={texts.verifiedLead} />;
}

/** The consumer has finished. */
export function Done({ journey }: StepProps) {
  const texts = useTexts(FRAME);
  if (journey.start.view === 'income')
    return <Good journey={journey} title={texts.incomeDone} lead={texts.incomeDoneLead} />;
  return <Good journey={journey} title={texts.done} lead={texts.doneLead} />;
}

interface GoodProps extends StepProps {
  readonly title: string;
  readonly lead: string;
}

function Good({ journey, title, lead }: GoodProps) {
  return (
    <StepFrame sign="good" title={title} lead={fill(lead, { account: journey.account })}>
      <Leave journey={journey} />
      <Support contact={journey.options.support} />
    </StepFrame>
  );
}

export interface FailedProps {
  readonly language: Language;
  readonly shown: Extract<Shown, { kind: 'failed' }>;
}

/** The screen when no step can be shown. */
export function Failed({ language, shown: { problem, again, support } }: FailedProps) {
  const texts = useTexts(FRAME);
  const { again: tryAgain } = useTexts(PARTS);
  return (
    <StepFrame sign="stopped" title={texts.failed}>
      <Alert>{refusalText(language, problem)}</Alert>
      {again && <Button onPress={again}>{tryAgain}</Button>}
      <Support contact={support} />
    </StepFrame>
  );
}

/** A step threw an error while it was rendered. */
export function Crashed({ again }: { readonly again: () => void }) {
  const texts = useTexts(FRAME);
  const { again: tryAgain } = useTexts(PARTS);
  return (
    <StepFrame title={texts.crashed} lead={texts.crashedLead}>
      <Button onPress={again}>{tryAgain}</Button>
    </StepFrame>
  );
}
