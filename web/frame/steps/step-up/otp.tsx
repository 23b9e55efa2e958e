// The person enters the code from the text message.
import { useRef, useState } from 'preact/hooks';
import type { StepProps } from '../../journey.js';
import { announce } from '../../parts/announcer.js';
import { TextField } from '../../parts/field.js';
import { useTexts } from '../../parts/language.js';
import { Alert, Button, Spinner, StepFrame } from '../../parts/step.js';
import { attemptsText } from './attempts.js';
import { codeOf } from './code.js';
import { Resend } from './resend.js';
import { STEP_UP } from './texts.js';
import { useAnswer } from './use-answer.js';

export function OtpStep({ journey }: StepProps) {
  const texts = useTexts(STEP_UP);
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const { stage, problem, send } = useAnswer(journey, 'otp');
  const { stepUp, status } = journey.session ?? {};

  function focusField(): void {
    form.current?.querySelector('input')?.focus();
  }

  function object(text: string): void {
    setError(text);
    announce(text);
    focusField();
  }

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    const code = codeOf(typed);
    if (code === null) return object(typed.trim() ? texts.codeMalformed : texts.codeMissing);
    setError(null);
    const open = await send({ code });
    if (open === null) return;
    setTyped('');
    object(`${texts.codeWrong} ${attemptsText(journey.language, open)}`);
  }

  return (
    <StepFrame title={texts.otpTitle} lead={texts.otpLead}>
      <form ref={form} noValidate autocomplete="off" onSubmit={(event) => void submit(event)}>
        <TextField
          name="code"
          label={texts.code}
          hint={texts.codeHint}
          value={typed}
          error={error}
          autocomplete="one-time-code"
          inputMode="numeric"
          onValue={(value) => {
            setTyped(value);
            setError(null);
            journey.changed(codeOf(value) !== null);
          }}
        />
        {problem && <Alert>{problem}</Alert>}
        {stage === 'checking' && <Spinner text={texts.checking} />}
        <Button busy={stage !== 'idle'}>{problem ? texts.again : texts.continue}</Button>
      </form>
      <Resend journey={journey} busy={stage !== 'idle'} sent={focusField} />
      {stage === 'idle' && status !== 'KBA_PENDING' && stepUp?.kbaEnabled && (
        <Button kind="link" onPress={() => journey.choose('kba')}>
          {texts.instead}
        </Button>
      )}
    </StepFrame>
  );
}
