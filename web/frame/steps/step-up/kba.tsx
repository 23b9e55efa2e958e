// The person answers questions. Only the open session holds them.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { KbaQuestion, SessionStatus } from '../../api/wire.js';
import type { StepProps } from '../../journey.js';
import { announce } from '../../parts/announcer.js';
import { useTexts } from '../../parts/language.js';
import { Radios } from '../../parts/radios.js';
import { answerText } from '../../parts/refusals.js';
import { Alert, Button, Spinner, StepFrame } from '../../parts/step.js';
import { attemptsText } from './attempts.js';
import { STEP_UP } from './texts.js';
import { useAnswer, useGone } from './use-answer.js';

export function KbaStep({ journey }: StepProps) {
  const questions = journey.session?.stepUp?.kbaQuestions ?? [];
  return questions.length > 0 ? (
    <Questions journey={journey} questions={questions} />
  ) : (
    <NoQuestions journey={journey} />
  );
}

/** The vendor asks in English. */
const LANGUAGE_OF_QUESTIONS = 'en';

/** Answer by question. */
type Chosen = Readonly<Record<number, number>>;

function Questions({ journey, questions }: StepProps & { readonly questions: readonly KbaQuestion[] }) {
  const texts = useTexts(STEP_UP);
  const [chosen, setChosen] = useState<Chosen>({});
  /** Whether the person has tried to continue. After that, a missing answer is an error. */
  const [tried, setTried] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const { stage, problem, send } = useAnswer(journey, 'kba');

  function choose(question: number, answer: number): void {
    const now = { ...chosen, [question]: answer };
    setChosen(now);
    journey.changed(questions.every(({ id }) => now[id] !== undefined));
  }

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    setTried(true);
    const missing = questions.find(({ id }) => chosen[id] === undefined);
    if (missing) {
      announce(texts.kbaMissingSome);
      form.current?.querySelector<HTMLInputElement>(`input[name="question-${missing.id}"]`)?.focus();
      return;
    }
    setWrong(null);
    const open = await send({ answers: questions.map(({ id }) => ({ questionId: id, answerId: chosen[id] })) });
    if (open === null) return;
    setChosen({});
    setTried(false);
    setWrong(attemptsText(journey.language, open));
  }

  return (
    <StepFrame title={texts.kbaTitle} lead={texts.kbaLead}>
      {wrong !== null && (
        <Alert title={texts.kbaWrong} focus>
          <p>
            {texts.kbaAgain} {wrong}
          </p>
        </Alert>
      )}
      <form ref={form} noValidate onSubmit={(event) => void submit(event)}>
        {questions.map(({ id, text, answers }) => (
          <Radios
            key={id}
            name={`question-${id}`}
            legend={text}
            lang={LANGUAGE_OF_QUESTIONS}
            choices={answers.map((answer) => ({ value: String(answer.id), text: answer.text }))}
            value={chosen[id] === undefined ? null : String(chosen[id])}
            onValue={(value) => choose(id, Number(value))}
            error={tried && chosen[id] === undefined ? texts.kbaMissing : null}
          />
        ))}
        {problem && <Alert>{problem}</Alert>}
        {stage === 'checking' && <Spinner text={texts.checking} />}
        <Button busy={stage !== 'idle'}>{problem ? texts.again : texts.continue}</Button>
      </form>
    </StepFrame>
  );
}

/** The session announces questions but has none. Its status may have them. */
function NoQuestions({ journey }: StepProps) {
  const texts = useTexts(STEP_UP);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const signal = useGone();
  useEffect(() => journey.fail('SCREENING_KBA_QUESTIONS_MISSING'), []);

  async function again(): Promise<void> {
    setBusy(true);
    const call = { method: 'GET', path: `/screening/${journey.session?.id ?? ''}/status` } as const;
    const status = await journey.api.call<SessionStatus>(call, signal);
    if (signal.aborted) return;
    setBusy(false);
    setProblem(status.ok ? null : answerText(journey.language, status));
    if (!status.ok) return journey.fail(status.error);
    await journey.follow(status.body);
  }

  return (
    <StepFrame title={texts.kbaTitle}>
      <Alert>{problem ?? texts.noQuestions}</Alert>
      <Button busy={busy} onPress={() => void again()}>
        {texts.again}
      </Button>
    </StepFrame>
  );
}
