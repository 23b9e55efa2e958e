// The view `rights`: the readers of the report with their purposes, the shares and their ends, the sources, and the rights of the person.
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isJudged } from '../../api/api.js';
import type { Disclosures, DisclosedShare, Revoked } from '../../api/wire.js';
import type { Journey, StepProps } from '../../journey.js';
import { day } from '../../parts/day.js';
import { fill, useTexts } from '../../parts/language.js';
import { Alert, Button, Spinner, StepFrame } from '../../parts/step.js';
import { Support } from '../../parts/support.js';
import { PARTS } from '../../parts/texts.js';
import { randomId } from '../../random-id.js';
import { RIGHTS } from './texts.js';

/** The looks that are shown at first. */
const FEW = 5;

export function RightsStep({ journey }: StepProps) {
  const texts = useTexts(RIGHTS);
  const { api, language } = journey;
  const sessionId = journey.session?.id ?? '';
  const [told, setTold] = useState<Disclosures | 'failed' | null>(null);
  const [visit, setVisit] = useState(0);

  useEffect(() => {
    const gone = new AbortController();
    const path = `/screening/${sessionId}/disclosures?language=${language}`;
    void api.call<Disclosures>({ method: 'GET', path }, gone.signal).then((answer) => {
      if (gone.signal.aborted) return;
      if (!answer.ok) journey.fail(answer.error);
      setTold(answer.ok ? answer.body : 'failed');
    });
    return () => gone.abort();
  }, [visit, language]);

  if (told === 'failed')
    return (
      <StepFrame key="failed" title={texts.title}>
        <Alert>{texts.notOpened}</Alert>
        <Button onPress={() => setVisit(visit + 1)}>{texts.tryAgain}</Button>
        <Support contact={journey.options.support} />
      </StepFrame>
    );
  return (
    <StepFrame key="told" title={texts.title} lead={texts.lead}>
      {told === null ? (
        <Spinner text={texts.opening} />
      ) : (
        <Told journey={journey} told={told} onStopped={() => setVisit(visit + 1)} />
      )}
    </StepFrame>
  );
}

interface ToldProps {
  readonly journey: Journey;
  readonly told: Disclosures;
  readonly onStopped: () => void;
}

function Told({ journey, told: { sessionId, reads, shares, sources, rights }, onStopped }: ToldProps) {
  const texts = useTexts(RIGHTS);
  const { language } = journey;
  const [all, setAll] = useState(false);
  const shown = all ? reads : reads.slice(0, FEW);
  const named = useNames();
  const looks = useRef<HTMLHeadingElement>(null);
  const shared = useRef<HTMLHeadingElement>(null);
  /** The heading that takes the focus, because the pressed button disappears. */
  const next = useRef<RefObject<HTMLHeadingElement | null> | null>(null);
  useEffect(() => {
    next.current?.current?.focus();
    next.current = null;
  }, [all, shares]);
  function stopped(): void {
    next.current = shared;
    onStopped();
  }

  return (
    <>
      <Part title={texts.looks} none={texts.noLooks} heading={looks}>
        {shown.map(({ at, accountName, reader, purpose, format }) => (
          <li key={at}>
            <strong>{moment(language, at)}</strong>
            <span>{fill(texts[reader], { account: named(accountName) })}</span>
            <span class="hint">{texts[purpose]}</span>
            {format === 'score' && <span class="hint">{texts.score}</span>}
          </li>
        ))}
      </Part>
      {shown.length < reads.length && (
        <Button
          kind="link"
          onPress={() => {
            next.current = looks;
            setAll(true);
          }}
        >
          {fill(texts.more, { count: reads.length })}
        </Button>
      )}
      <Part title={texts.shares} none={texts.noShares} heading={shared}>
        {shares.map((share) => (
          <li key={share.sharedAt}>
            <strong>{named(share.recipientName)}</strong>
            <span class="hint">
              {fill(texts[share.status], {
                until: day(language, share.expiresAt),
                on: day(language, share.revokedAt ?? share.expiresAt),
              })}
            </span>
            {share.stop && <Stop journey={journey} sessionId={sessionId} share={share} onStopped={stopped} />}
          </li>
        ))}
      </Part>
      <Part title={texts.sources} none={texts.noSources}>
        {sources.map(({ kind, vendor, at }) => (
          <li key={kind}>
            <span>{fill(texts[kind], { vendor })}</span>
            <span class="hint">{day(language, at)}</span>
          </li>
        ))}
      </Part>
      <section class="disclosed">
        <h2>{rights.title}</h2>
        <p>{rights.lead}</p>
        <ul class="rights">
          {rights.list.map((right) => (
            <li key={right}>{right}</li>
          ))}
        </ul>
        <h3>{texts.wrong}</h3>
        <p>{rights.dispute}</p>
        <p>
          <a href={rights.officialSummaryUrl} target="_blank" rel="noopener noreferrer">
            {texts.summary}
          </a>
        </p>
      </section>
      <Support contact={journey.options.support} />
    </>
  );
}

interface PartProps {
  readonly title: string;
  /** Shown if the list is empty. */
  readonly none: string;
  readonly heading?: RefObject<HTMLHeadingElement | null>;
  readonly children: readonly ComponentChildren[];
}

function Part({ title, none, heading = { current: null }, children }: PartProps) {
  return (
    <section class="disclosed">
      <h2 tabIndex={-1} ref={heading}>
        {title}
      </h2>
      {children.length === 0 ? <p>{none}</p> : <ul>{children}</ul>}
    </section>
  );
}

interface StopProps {
  readonly journey: Journey;
  readonly sessionId: string;
  readonly share: DisclosedShare;
  readonly onStopped: () => void;
}

/** Two presses stop a share, because the person can never share this report with the recipient again. */
function Stop({ journey, sessionId, share: { stop, recipientName }, onStopped }: StopProps) {
  const texts = useTexts(RIGHTS);
  const account = useNames()(recipientName);
  const [sure, setSure] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<'problem' | 'unsure' | null>(null);
  const key = useRef(randomId());
  const box = useRef<HTMLDivElement>(null);
  const pressed = useRef(false);
  useEffect(() => {
    // The pressed button has disappeared.
    if (pressed.current) box.current?.querySelector<HTMLElement>('p, button')?.focus();
    pressed.current = true;
  }, [sure]);

  async function revoke(): Promise<void> {
    if (!stop) return;
    setBusy(true);
    setProblem(null);
    const call = { method: 'POST', path: stop.path, body: stop.body, key: key.current } as const;
    const answer = await journey.api.call<Revoked>(call);
    setBusy(false);
    if (isJudged(answer)) key.current = randomId();
    if (answer.ok) {
      const { reportId, recipientAccountId } = answer.body;
      journey.tell('onReportRevoked', { sessionId, reportId, recipientAccountId });
      return onStopped();
    }
    // The person has already stopped the share in another tab.
    if (answer.error.code === 'REPORT_SHARING_ALREADY_REVOKED') return onStopped();
    setProblem(answer.status >= 400 && answer.status < 500 ? 'problem' : 'unsure');
  }

  if (!sure)
    return (
      <div ref={box}>
        <Button kind="secondary" onPress={() => setSure(true)}>
          {fill(texts.stop, { account })}
        </Button>
      </div>
    );
  return (
    <div class="stop" ref={box}>
      <p tabIndex={-1}>
        <strong>{fill(texts.sure, { account })}</strong> {texts.sureWhat}
      </p>
      {problem && <Alert>{texts[problem]}</Alert>}
      <div class="actions">
        <Button kind="secondary" disabled={busy} onPress={() => setSure(false)}>
          {texts.keep}
        </Button>
        <Button kind="danger" busy={busy} onPress={() => void revoke()}>
          {texts.stopForGood}
        </Button>
      </div>
    </div>
  );
}

function useNames(): (name: string | null) => string {
  const { theCompany } = useTexts(PARTS);
  return (name) => name ?? theCompany;
}

/** In the reader's time zone. */
function moment(language: string, at: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short' }).format(new Date(at));
}
