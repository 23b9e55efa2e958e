// The steps `report` and `share` on one screen: the question about sharing, and the report with its actions below it.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SessionStatus } from '../../api/wire.js';
import type { StepProps } from '../../journey.js';
import { useTexts } from '../../parts/language.js';
import { Leave } from '../../parts/leave.js';
import { Alert, Button, Spinner, StepFrame } from '../../parts/step.js';
import { Support } from '../../parts/support.js';
import { Actions } from './actions.js';
import { isOutOfReach, mayPass, type ReadReport, readReport, textOf } from './read-report.js';
import { ReportPage } from './report-page.js';
import { Share } from './share.js';
import { TEXTS } from './texts.js';
import { Unavailable, VerifyAgain } from './unavailable.js';

export function ReportStep({ journey }: StepProps) {
  const texts = useTexts(TEXTS);
  const sessionId = journey.session?.id ?? journey.start.screeningId ?? '';
  const [read, setRead] = useState<ReadReport | null>(null);
  const [visit, setVisit] = useState(0);
  // If buttons appeared earlier, they would move while a person presses them.
  const [settled, setSettled] = useState(false);
  const page = useRef<HTMLIFrameElement>(null);
  const { ask, answer } = useSteps(journey);
  // Only the account that screens the person knows the session.
  const isRecipient = journey.session === null;
  const title = isRecipient ? texts.titleOfRecipient : texts.title;

  useEffect(() => {
    const gone = new AbortController();
    setRead(null);
    void readReport(journey, sessionId, gone.signal).then(async (result) => {
      const payable = await payableAgain(journey, result, gone.signal);
      if (gone.signal.aborted) return;
      if (payable) return journey.follow(payable);
      setRead(result);
      if (result.ok) return journey.screened(result.report.score?.value ?? null);
      if (result.refusal.code === 'PAYMENT_REQUIRED') journey.fail(result.refusal);
      const { refusal } = result;
      // After a temporary failure the score may still arrive. A freeze may be lifted only after days, and the score is reported when it arrives.
      if (isCompleted(journey) && (refusal.reasonCode !== undefined || !mayPass(refusal))) journey.screened(null);
      const { reasonCode } = refusal;
      if (journey.session && reasonCode !== undefined) journey.tell('onReportUnavailable', { sessionId, reasonCode });
    });
    return () => gone.abort();
  }, [visit]);

  if (read === null)
    return (
      <StepFrame title={title}>
        <Spinner text={texts.opening} />
      </StepFrame>
    );
  if (!read.ok) return <NotRead journey={journey} read={read} title={title} onAgain={() => setVisit(visit + 1)} />;
  return (
    <StepFrame
      title={title}
      lead={isRecipient ? texts.leadOfRecipient : texts[read.report.score ? 'lead' : 'leadWithoutScore']}
    >
      <Share
        journey={journey}
        sessionId={sessionId}
        onSettled={() => setSettled(true)}
        onAsked={ask}
        onAnswered={answer}
      />
      {settled && <Actions journey={journey} sessionId={sessionId} report={read.report} html={read.html} page={page} />}
      <ReportPage settings={journey.settings} html={read.html} title={texts.page} page={page} />
    </StepFrame>
  );
}

interface NotReadProps extends StepProps {
  readonly read: Extract<ReadReport, { ok: false }>;
  readonly title: string;
  readonly onAgain: () => void;
}

function NotRead({ journey, read, title, onAgain }: NotReadProps) {
  const texts = useTexts(TEXTS);
  const { refusal, retryAfterSeconds } = read;
  if (journey.session !== null && isOutOfReach(refusal)) return <VerifyAgain journey={journey} />;
  if (refusal.reasonCode !== undefined && !isOutOfReach(refusal))
    return (
      <Unavailable
        journey={journey}
        reasonCode={refusal.reasonCode}
        waitSeconds={retryAfterSeconds ?? 0}
        onAgain={onAgain}
      />
    );
  return (
    <StepFrame sign="file" title={title}>
      <Alert title={texts.notOpened} focus>
        <p>{texts[textOf(refusal)]}</p>
      </Alert>
      {mayPass(refusal) ? <Button onPress={onAgain}>{texts.tryAgain}</Button> : <Leave journey={journey} early />}
      <Support contact={journey.options.support} />
    </StepFrame>
  );
}

/** The session, if its payment no longer counts since the screen appeared and the person can pay in this view. */
async function payableAgain(
  { api, session, start }: StepProps['journey'],
  read: ReadReport,
  signal: AbortSignal,
): Promise<SessionStatus | null> {
  if (read.ok || read.refusal.code !== 'PAYMENT_REQUIRED' || session === null || start.view !== 'screening')
    return null;
  const status = await api.call<SessionStatus>({ method: 'GET', path: `/screening/${session.id}/status` }, signal);
  return status.ok && status.body.overallStatus !== 'COMPLETED' ? status.body : null;
}

/** Whether the screening is completed. A report that cannot be read does not change this. */
function isCompleted({ session }: StepProps['journey']): boolean {
  return session !== null && 'overallStatus' in session && session.overallStatus === 'COMPLETED';
}

/**
 * The step `report` ends when the question about sharing appears, and the step `share` ends with the answer. These effects run after the effect that
 * reports the start of a step, so a step never ends before it has started.
 */
function useSteps(journey: StepProps['journey']): { readonly ask: () => void; readonly answer: () => void } {
  const [asked, ask] = useState(false);
  const [answered, answer] = useState(false);
  const step = useRef<'report' | 'share' | 'over'>('report');
  useEffect(() => {
    if (step.current === 'report' && asked) {
      step.current = 'share';
      journey.next();
    } else if (step.current === 'share' && answered) {
      step.current = 'over';
      journey.next();
    }
  }, [journey, asked, answered]);
  return { ask: () => ask(true), answer: () => answer(true) };
}
