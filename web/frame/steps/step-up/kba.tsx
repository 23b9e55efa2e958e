// The person answers questions, one in each view, and sends all answers together. Only an open session has the questions.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { KbaQuestion, SessionStatus } from '../../api/wire.js';
import type { StepProps } from '../../journey.js';
import { announce } from '../../parts/announcer.js';
import { fill, useTexts } from '../../parts/language.js';
import { Radios } from '../../parts/radios.js';
import { answerText } from '../../parts/refusals.js';
import { Alert, Button, Spinner, StepFrame } from '../../parts/step.js';
import { View } from '../../parts/views.js';
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

/** The answers, by question. */
type Chosen = Readonly<Record<number, number>>;

function Questions({ journey, questions }: StepProps & { readonly questions: readonly KbaQuestion[] }) {
  const texts = useTexts(STEP_UP);
  const [at, setAt] = useState(0);
  const [chosen, setChosen] = useState<Chosen>({});
  /** Whether the person has tried to continue without an answer. */
  const [tried, setTried] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const { stage, problem, send } = useAnswer(journey, 'kba');
  const question = questions[at];
  const isLast = at + 1 === questions.length;

  function open(index: number): void {
    setAt(index);
    setTried(false);
    setWrong(null);
  }

  function choose(id: number, answer: number): void {
    const now = { ...chosen, [id]: answer };
    setChosen(now);
    journey.changed(questions.every((each) => now[each.id] !== undefined));
  }

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (question && chosen[question.id] === undefined) {
      setTried(true);
      announce(texts.kbaMissing);
      form.current?.querySelector('input')?.focus();
      return;
    }
    if (!isLast) return open(at + 1);
    setWrong(null);
    const still = await send({ answers: questions.map(({ id }) => ({ questionId: id, answerId: chosen[id] })) });
    if (still === null) return;
    open(0);
    setChosen({});
    setWrong(attemptsText(journey.language, still));
  }

  if (!question) return null;
  const { id, text, answers } = question;
  return (
    <View shown={at} onBack={at > 0 ? () => open(at - 1) : null} locked={stage !== 'idle'}>
      <StepFrame
        title={fill(texts.kbaProgress, { question: at + 1, questions: questions.length })}
        lead={texts.kbaLead}
      >
        {wrong !== null && (
          <Alert title={texts.kbaWrong} focus>
            <p>
              {texts.kbaAgain} {wrong}
            </p>
          </Alert>
        )}
        <form ref={form} noValidate onSubmit={(event) => void submit(event)}>
          <Radios
            name={`question-${id}`}
            legend={text}
            lang={LANGUAGE_OF_QUESTIONS}
            choices={answers.map((answer) => ({ value: String(answer.id), text: answer.text }))}
            value={chosen[id] === undefined ? null : String(chosen[id])}
            onValue={(value) => choose(id, Number(value))}
            error={tried && chosen[id] === undefined ? texts.kbaMissing : null}
          />
          {isLast && problem && <Alert>{problem}</Alert>}
          {stage === 'checking' && <Spinner text={texts.checking} />}
          <div class="actions">
            <Button busy={stage !== 'idle'}>{isLast && problem ? texts.again : texts.continue}</Button>
          </div>
        </form>
      </StepFrame>
    </View>
  );
}

/** The session announces questions but contains none. The session's status may contain the questions. */
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
