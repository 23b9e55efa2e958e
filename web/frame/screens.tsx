// The screens between and after the steps, and the screen for a step that cannot be shown.
import { useEffect, useState } from 'preact/hooks';
import type { Language } from '../contract/language.js';
import type { SessionStatus } from './api/wire.js';
import { browser } from './browser.js';
import type { StepProps } from './journey.js';
import { useTexts } from './parts/language.js';
import { refusalText } from './parts/refusals.js';
import { Alert, Button, Spinner, StepFrame } from './parts/step.js';
import { PARTS } from './parts/texts.js';
import type { Shown } from './flow.js';
import { FRAME } from './texts.js';

/** About two minutes in all. The service itself keeps asking the vendor. */
const PAUSES_MS = [1_000, 2_000, 3_000, 5_000, 8_000, ...Array<number>(10).fill(10_000)];

/** The vendor has not answered yet. Asks for the status until it changes; after some time the person decides. */
export function Waiting({ journey }: StepProps) {
  const texts = useTexts(FRAME);
  const [round, setRound] = useState(0);
  const [slow, setSlow] = useState(false);
  const id = journey.session?.id ?? '';

  useEffect(() => {
    const gone = new AbortController();
    setSlow(false);
    void (async () => {
      for (const pauseMs of PAUSES_MS) {
        await browser.pause(pauseMs, gone.signal);
        const call = { method: 'GET', path: `/screening/${id}/status` } as const;
        const answer = gone.signal.aborted ? null : await journey.api.call<SessionStatus>(call, gone.signal);
        if (gone.signal.aborted) return;
        if (answer?.ok && answer.body.status !== 'SUBMITTED') return journey.follow(answer.body);
        if (answer && !answer.ok && answer.status > 0 && answer.status < 500) break;
      }
      setSlow(true);
    })();
    return () => gone.abort();
  }, [round]);

  if (!slow)
    return (
      <StepFrame title={texts.waiting} lead={texts.waitingLead}>
        <Spinner />
      </StepFrame>
    );
  return (
    <StepFrame key="slow" title={texts.stillWaiting} lead={texts.stillWaitingLead}>
      <Button onPress={() => setRound(round + 1)}>{texts.check}</Button>
    </StepFrame>
  );
}

/** An agent or an organization has finished. */
export function Verified() {
  const texts = useTexts(FRAME);
  return <Good title={texts.verified} lead={texts.verifiedLead} />;
}

/** The consumer has finished. */
export function Done({ journey }: StepProps) {
  const texts = useTexts(FRAME);
  if (journey.start.view === 'income') return <Good title={texts.incomeDone} lead={texts.incomeDoneLead} />;
  return <Good title={texts.done} lead={texts.doneLead} />;
}

function Good({ title, lead }: { readonly title: string; readonly lead: string }) {
  return (
    <div class="finished">
      <svg class="tick-mark" viewBox="0 0 48 48" aria-hidden="true">
        <circle cx="24" cy="24" r="24" />
        <path d="m14 24.5 7 7 13-14" />
      </svg>
      <StepFrame title={title} lead={lead} />
    </div>
  );
}

export interface FailedProps {
  readonly language: Language;
  readonly shown: Extract<Shown, { kind: 'failed' }>;
}

/** Nothing can be shown. */
export function Failed({ language, shown: { problem, again } }: FailedProps) {
  const texts = useTexts(FRAME);
  const { again: tryAgain } = useTexts(PARTS);
  return (
    <StepFrame title={texts.failed}>
      <Alert>{refusalText(language, problem)}</Alert>
      {again && <Button onPress={again}>{tryAgain}</Button>}
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
