// The step in which people enter their details, on three screens. Typed values exist only in this component's state.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { UserType } from '../../../contract/callbacks.js';
import type { Language } from '../../../contract/language.js';
import { type Answer, isJudged } from '../../api/api.js';
import type { Session } from '../../api/wire.js';
import type { StepProps } from '../../journey.js';
import { announce, useAnnounced } from '../../parts/announcer.js';
import { useTexts } from '../../parts/language.js';
import { answerText } from '../../parts/refusals.js';
import { Alert, Button, StepFrame } from '../../parts/step.js';
import { PARTS } from '../../parts/texts.js';
import { View } from '../../parts/views.js';
import { randomId } from '../../random-id.js';
import { untilText } from '../ended/until.js';
import { rememberEnd } from '../step-up/sent-to.js';
import { Fields } from './fields.js';
import { bodyOf, isReachable, problemsOf, type Values, valuesFrom, written } from './form.js';
import { readRefusal } from './refused.js';
import {
  type DetailsScreen,
  type FieldName,
  fieldsOf,
  normalized,
  type Problem,
  problemOf,
  SCREENS,
  screenOf,
} from './rules.js';
import { Terms } from './terms.js';
import { testPerson } from './test-person.js';
import { TEXTS } from './texts.js';
import { useDevice } from './use-device.js';

/** The service itself waits 20 seconds for the vendor. */
const SUBMIT_LIMIT_MS = 30_000;

type Errors = Readonly<Partial<Record<FieldName, string>>>;

/** The message below the form. A new object is a new message. */
interface Notice {
  readonly text: string;
  readonly isFinal: boolean;
}

const OPTION_REFUSED = { productId: 'INVALID_PRODUCT_ID', endUserType: 'INVALID_END_USER_TYPE' } as const;

export function Details({ journey }: StepProps) {
  const { start, options, language } = journey;
  const texts = useTexts(TEXTS);
  const parts = useTexts(PARTS);
  const device = useDevice(journey);
  const form = useRef<HTMLFormElement>(null);
  const [values, setValues] = useState<Values>(() => valuesFrom(start.prefill));
  /** A field counts as left after the press that took its focus, because the press may have filled it in. */
  const latest = useRef(values);
  latest.current = values;
  const [errors, setErrors] = useState<Errors>({});
  /** Errors that were present when the person tried to continue. The errors are listed above the form. */
  const [listed, setListed] = useState<{ readonly fields: readonly FieldName[] } | null>(null);
  /** The field that gets the focus on its screen. A new object moves the focus again. */
  const [wanted, setWanted] = useState<{ readonly field: FieldName } | null>(() => {
    const { wrong } = journey;
    return wrong && isReachable(wrong, values, start.userType, new Date()) ? { field: wrong } : null;
  });
  const [screen, setScreen] = useState<DetailsScreen>(() => (wanted ? screenOf(wanted.field) : 'about'));
  const [notice, setNotice] = useState<Notice | null>(null);
  const [busy, setBusy] = useState(false);
  /** The number of submissions that the device check has stopped. */
  const [stopped, setStopped] = useState(0);
  /** A repeated submission keeps its key. After a change or a refusal, the submission gets a new key. */
  const key = useRef(randomId());

  const textOf = (field: FieldName, problem: Problem): string => {
    if (problem === 'required') return field === 'terms' ? texts.requiredTerms : texts.required;
    if (problem === 'ssn') return texts.ssnProblem;
    return problem === 'email' ? texts.emailProblem : texts[problem];
  };
  const check = (field: FieldName, value: string): void => {
    const problem = problemOf(field, normalized(field, value), new Date());
    setErrors(({ [field]: _, ...others }) => (problem ? { ...others, [field]: textOf(field, problem) } : others));
  };
  const change = (field: FieldName, value: string): void => {
    const changed = { ...values, [field]: value };
    setValues(changed);
    key.current = randomId();
    if (errors[field]) check(field, value);
    journey.changed(Object.keys(problemsOf(changed, start.userType, new Date())).length === 0);
  };
  const leave = (field: FieldName): void => {
    check(field, latest.current[field]);
    setValues((now) => ({ ...now, [field]: written(field, now[field]) }));
  };
  const want = (field: FieldName): void => {
    setScreen(screenOf(field));
    setWanted({ field });
  };
  const complain = (wrong: Errors): void => {
    const fields = fieldsOf(start.userType).filter((field) => wrong[field]);
    setErrors((others) => ({ ...others, ...wrong }));
    setListed({ fields });
    if (fields[0]) want(fields[0]);
  };
  const open = (other: DetailsScreen): void => {
    setNotice(null);
    setWanted(null);
    setScreen(other);
  };
  const fillIn = (): void => {
    const filled = testPerson(values, start.userType, new Date(), Math.random());
    setValues(filled);
    setErrors({});
    key.current = randomId();
    announce(texts.testDataUsed);
    journey.changed(true);
  };

  useAnnounced(busy ? texts.sending : null);
  // The errors must be rendered first, so that a screen reader reads them together with the field.
  useEffect(() => {
    if (wanted) form.current?.querySelector<HTMLElement>(`[data-field=${wanted.field}] [name]`)?.focus();
  }, [wanted]);

  const at = SCREENS.indexOf(screen);
  const [before, after] = [SCREENS[at - 1], SCREENS[at + 1]];

  const proceed = async (): Promise<void> => {
    const problems = Object.entries(problemsOf(values, start.userType, new Date())) as [FieldName, Problem][];
    const due = problems.filter(([field]) => after === undefined || screenOf(field) === screen);
    setNotice(null);
    if (due.length > 0)
      return complain(Object.fromEntries(due.map(([field, problem]) => [field, textOf(field, problem)])));
    if (after) return open(after);
    setErrors({});
    setListed(null);
    setBusy(true);
    await submit(start);
    setBusy(false);
  };

  const submit = async (wish: typeof start): Promise<void> => {
    const collected = await device.collected();
    if (!collected.ok) return setStopped(stopped + 1);
    const answer = await journey.api.call<Session>({
      method: 'POST',
      path: '/screening/submit',
      body: bodyOf(values, wish, options.terms, collected.device),
      key: key.current,
      timeoutMs: SUBMIT_LIMIT_MS,
    });
    if (!answer.ok) return refused(answer, wish);
    rememberEnd(answer.body.id, normalized('phoneNumber', values.phoneNumber));
    setValues(valuesFrom({}));
    await journey.follow(answer.body);
  };

  const refused = async (answer: Extract<Answer<never>, { ok: false }>, wish: typeof start): Promise<void> => {
    const { error } = answer;
    const { fields, isFinal, option } = readRefusal(error);
    if (isJudged(answer)) key.current = randomId();
    if (option && wish[option] !== null) {
      journey.tell('onWarning', {
        code: OPTION_REFUSED[option],
        message: 'The service does not take this option; it is left out.',
      });
      return submit({ ...wish, [option]: null });
    }
    // A session grant has one session. A person who sends the details again continues with this session.
    if (error.code === 'AUTH_FORBIDDEN' && error.opened !== undefined)
      return journey.follow({ id: error.opened, status: 'SUBMITTED' });
    journey.fail(error);
    if (isFinal) setValues(valuesFrom({}));
    if (error.sessionId !== undefined) return journey.follow({ id: error.sessionId, status: 'BLOCKED' });
    if (error.code === 'USER_BLOCKED' || error.code === 'IDENTITY_NOT_FOUND')
      journey.tell('onVerificationFailure', { sessionId: null, status: 'BLOCKED', reasonCode: error.code });
    const wrong = Object.entries(fields).map(([field, text]) => [field, texts[text]] as const);
    if (fields.terms) setValues({ ...values, terms: '' });
    if (wrong.length > 0) complain(Object.fromEntries(wrong));
    else setNotice({ text: noticeOf(answer), isFinal });
  };

  const noticeOf = (answer: Extract<Answer<never>, { ok: false }>): string => {
    const { blockedUntil } = answer.error;
    const text = answerText(language, answer);
    return blockedUntil === undefined ? text : `${text} ${untilText(journey, new Date(blockedUntil))}`;
  };

  if (notice?.isFinal)
    return (
      <StepFrame title={texts.final}>
        <Alert focus>{notice.text}</Alert>
      </StepFrame>
    );
  return (
    <View shown={screen} onBack={before ? () => open(before) : null} locked={busy} leavesFocus={wanted !== null}>
      <StepFrame {...headOf(screen, start.userType, texts)}>
        <form
          ref={form}
          noValidate
          // Keeps Firefox from storing the typed values in its form history. Each field names the kind of value that a browser may fill in.
          autocomplete="off"
          onSubmit={(event) => {
            event.preventDefault();
            if (!busy) void proceed();
          }}
        >
          {listed && <Summary key={listed} fields={listed.fields.filter((field) => errors[field])} onChosen={want} />}
          <Fields
            screen={screen}
            userType={start.userType}
            values={values}
            errors={errors}
            locked={busy}
            onValue={change}
            onLeave={leave}
          />
          {screen === 'home' && (
            <Terms
              terms={options.terms}
              accepted={values.terms !== ''}
              error={errors.terms}
              locked={busy}
              onAccepted={(accepted) => change('terms', accepted ? new Date().toISOString() : '')}
            />
          )}
          {device.failure && (
            <Alert key={stopped} title={texts.deviceCheck} focus={stopped > 0}>
              <p>{texts[device.failure]}</p>
              <div class="actions">
                <Button kind="secondary" onPress={device.again}>
                  {parts.again}
                </Button>
              </div>
            </Alert>
          )}
          {notice && (
            <Alert key={notice} title={texts.notSent} focus>
              {notice.text}
            </Alert>
          )}
          <div class="actions">
            <Button busy={busy}>{busy ? texts.sending : texts.send}</Button>
          </div>
          {options.environment === 'test' && !busy && (
            <div class="quiet">
              <Button kind="link" onPress={fillIn}>
                {texts.testData}
              </Button>
            </div>
          )}
        </form>
      </StepFrame>
    </View>
  );
}

function headOf(
  screen: DetailsScreen,
  userType: UserType,
  texts: (typeof TEXTS)[Language],
): { readonly title: string; readonly lead?: string } {
  const isConsumer = userType === 'CONSUMER';
  switch (screen) {
    case 'about':
      return { title: texts.aboutTitle, lead: isConsumer ? texts.aboutLeadConsumer : texts.aboutLeadOther };
    case 'numbers':
      return { title: isConsumer ? texts.numbersTitleConsumer : texts.numbersTitleOther };
    case 'home':
      return { title: texts.homeTitle };
    default:
      return screen satisfies never;
  }
}

interface SummaryProps {
  /** Fields that still have an error. */
  readonly fields: readonly FieldName[];
  readonly onChosen: (field: FieldName) => void;
}

function Summary({ fields, onChosen }: SummaryProps) {
  const texts = useTexts(TEXTS);
  if (fields.length === 0) return null;
  return (
    <Alert title={texts.problems}>
      <ul>
        {fields.map((field) => (
          <li key={field}>
            <Button kind="link" onPress={() => onChosen(field)}>
              {texts[field]}
            </Button>
          </li>
        ))}
      </ul>
    </Alert>
  );
}
