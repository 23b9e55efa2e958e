// The person enters the code from the text message.
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { StepProps } from '../../journey.js';
import { announce } from '../../parts/announcer.js';
import { TextField } from '../../parts/field.js';
import { fill, useTexts } from '../../parts/language.js';
import { Alert, Button, Spinner, StepFrame, TakesFocus } from '../../parts/step.js';
import { attemptsText } from './attempts.js';
import { codeOf } from './code.js';
import { Resend } from './resend.js';
import { endOf } from './sent-to.js';
import { STEP_UP } from './texts.js';
import { useAnswer } from './use-answer.js';

/** The usual length. A code of this length is sent automatically. */
const USUAL_LENGTH = 6;
/** A person who types may have a longer code, so the step waits for another digit. A pasted code is sent at once. */
const NEXT_DIGIT_MS = 500;

export function OtpStep({ journey }: StepProps) {
  const texts = useTexts(STEP_UP);
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const takesFocus = useContext(TakesFocus);
  const { stage, problem, send } = useAnswer(journey, 'otp');
  const { id, stepUp, status } = journey.session ?? {};
  const end = endOf(id);

  function focusField(): void {
    form.current?.querySelector('input')?.focus();
  }

  // After the heading, so that a screen reader reads the heading before the field.
  useEffect(() => {
    if (takesFocus) focusField();
    return () => clearTimeout(timer.current);
  }, []);

  function object(text: string): void {
    setError(text);
    announce(text);
    focusField();
  }

  function change(text: string): void {
    const added = text.length - typed.length;
    setTyped(text);
    setError(null);
    journey.changed(codeOf(text) !== null);
    clearTimeout(timer.current);
    if (added <= 0 || codeOf(text)?.length !== USUAL_LENGTH) return;
    if (added > 1) void submit(text);
    else timer.current = setTimeout(() => void submit(text), NEXT_DIGIT_MS);
  }

  async function submit(text: string): Promise<void> {
    clearTimeout(timer.current);
    const code = codeOf(text);
    if (code === null) return object(text.trim() ? texts.codeMalformed : texts.codeMissing);
    setError(null);
    const open = await send({ code });
    if (open === null) return;
    setTyped('');
    object(`${texts.codeWrong} ${attemptsText(journey.language, open)}`);
  }

  return (
    <StepFrame title={texts.otpTitle} lead={end === undefined ? texts.otpLead : <SentTo end={end} />}>
      <form
        ref={form}
        class="code-form"
        noValidate
        autocomplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          void submit(typed);
        }}
      >
        <TextField
          name="code"
          label={texts.code}
          hint={texts.codeHint}
          value={typed}
          error={error}
          autocomplete="one-time-code"
          inputMode="numeric"
          locked={stage !== 'idle'}
          onValue={change}
        />
        {problem && <Alert>{problem}</Alert>}
        {stage === 'checking' && <Spinner text={texts.checking} />}
        <div class="actions">
          <Button busy={stage !== 'idle'}>{problem ? texts.again : texts.continue}</Button>
        </div>
      </form>
      <div class="stack ways">
        <Resend journey={journey} locked={stage !== 'idle'} sent={focusField} />
        {/* A session grant has one session, and other details would lead back to this session. */}
        {stage === 'idle' && journey.options.grant === null && (
          <Button kind="link" onPress={() => journey.startAgain('phoneNumber')}>
            {texts.wrongNumber}
          </Button>
        )}
        {stage === 'idle' && status !== 'KBA_PENDING' && stepUp?.kbaEnabled && (
          <Button kind="link" onPress={() => journey.choose('kba')}>
            {texts.instead}
          </Button>
        )}
      </div>
    </StepFrame>
  );
}

function SentTo({ end }: { readonly end: string }) {
  const texts = useTexts(STEP_UP);
  return (
    <>
      {texts.sentTo}{' '}
      <span class="number" aria-hidden="true">
        (•••) •••-{end}
      </span>{' '}
      <span class="unseen">{fill(texts.endsIn, { end })}</span>
    </>
  );
}
