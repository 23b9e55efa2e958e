// The consumer's choice to share the report, and to revoke the share.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isJudged } from '../../api/api.js';
import type { Revoked, Shared, Sharing } from '../../api/wire.js';
import type { Journey } from '../../journey.js';
import { day } from '../../parts/day.js';
import { fill, useTexts } from '../../parts/language.js';
import { Leave } from '../../parts/leave.js';
import { Alert, Button, Spinner } from '../../parts/step.js';
import { PARTS } from '../../parts/texts.js';
import { randomId } from '../../random-id.js';
import { keepInView } from './keep-in-view.js';
import { SHARE_TEXTS } from './share-texts.js';

type State =
  | { readonly kind: 'loading' }
  /** The viewer is not the consumer. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'open'; readonly declined: boolean }
  | { readonly kind: 'shared'; readonly until: string | null; readonly sure: boolean }
  | { readonly kind: 'revoked' }
  /** The recipient's time has ended. */
  | { readonly kind: 'over' };

export interface ShareProps {
  readonly journey: Journey;
  readonly sessionId: string;
  /** The state of the sharing is shown, so the parts below no longer move. */
  onSettled(): void;
  /** The question is shown. */
  onAsked(): void;
  /** The person has answered the question, now or in an earlier visit. */
  onAnswered(): void;
}

export function Share(props: ShareProps) {
  const { journey, sessionId } = props;
  const texts = useTexts(SHARE_TEXTS);
  const parts = useTexts(PARTS);
  const { api, language } = journey;
  const [state, setState] = useState<State>({ kind: 'loading' });
  const [recipient, setRecipient] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<'problem' | 'unsure' | 'expired' | null>(null);
  const [visit, setVisit] = useState(0);
  /** The result of a press takes the focus, because the pressed button has disappeared. A state that was loaded takes no focus. */
  const pressed = useRef(false);
  /** The keys of requests that the API has not decided. */
  const keys = useRef(new Map<string, string>());

  function become(next: State): void {
    pressed.current = true;
    setState(next);
  }

  useEffect(() => {
    const gone = new AbortController();
    setState({ kind: 'loading' });
    void api.call<Sharing>({ method: 'GET', path: `/reports/${sessionId}/sharing` }, gone.signal).then((answer) => {
      if (gone.signal.aborted) return;
      props.onSettled();
      if (!answer.ok) return setState({ kind: isStranger(answer.status) ? 'nothing' : 'unknown' });
      setRecipient(answer.body.recipientName ?? null);
      setState(stateOf(answer.body));
      props.onAsked();
      if (answer.body.status !== 'NOT_SHARED') props.onAnswered();
    });
    return () => gone.abort();
  }, [visit]);

  /** Null if the request failed, and the person reads the reason. */
  async function post<Body>(what: string): Promise<Body | null> {
    setProblem(null);
    setBusy(true);
    const key = keys.current.get(what) ?? randomId();
    keys.current.set(what, key);
    const answer = await api.call<Body>({ method: 'POST', path: `/reports/${sessionId}/${what}`, key });
    setBusy(false);
    if (isJudged(answer)) keys.current.delete(what);
    if (answer.ok) return answer.body;
    // The person has already answered in another tab.
    if (answer.error.code === 'REPORT_SHARING_ALREADY_REVOKED') become({ kind: 'revoked' });
    else if (answer.error.code === 'SCREENING_REPORT_EXPIRED') setProblem('expired');
    else setProblem(answer.status >= 400 && answer.status < 500 ? 'problem' : 'unsure');
    return null;
  }

  async function share(): Promise<void> {
    const shared = await post<Shared>('consent-to-share');
    if (!shared) return;
    const { reportId, recipientAccountId, expiresAt } = shared;
    journey.tell('onReportShared', { sessionId, reportId, recipientAccountId });
    become({ kind: 'shared', until: expiresAt, sure: false });
    props.onAnswered();
  }

  async function revoke(): Promise<void> {
    const revoked = await post<Revoked>('revoke-sharing');
    if (!revoked) return;
    const { reportId, recipientAccountId, recipientAccountIds = [recipientAccountId] } = revoked;
    for (const each of recipientAccountIds)
      journey.tell('onReportRevoked', { sessionId, reportId, recipientAccountId: each });
    become({ kind: 'revoked' });
  }

  function decline(): void {
    journey.tell('onReportShareDeclined', { sessionId });
    become({ kind: 'open', declined: true });
    props.onAnswered();
  }

  if (state.kind === 'nothing') return null;
  if (state.kind === 'loading') return <Spinner />;
  const trouble = problem && <Alert>{texts[problem]}</Alert>;
  const panel = { takesFocus: pressed.current };
  const named = (text: string): string => fill(text, { account: recipient ?? parts.theCompany });
  switch (state.kind) {
    case 'unknown':
      return (
        <Panel key="unknown" title={texts.stateUnknown} {...panel}>
          <Button kind="secondary" onPress={() => setVisit(visit + 1)}>
            {texts.tryAgain}
          </Button>
        </Panel>
      );
    case 'open':
      return state.declined ? (
        <Panel key="declined" title={texts.declined} {...panel}>
          <p>{named(texts.declinedWhat)}</p>
          {trouble}
          <div class="actions">
            <Leave journey={journey} />
            <Button kind="secondary" busy={busy} onPress={() => void share()}>
              {texts.share}
            </Button>
          </div>
        </Panel>
      ) : (
        <Panel key="open" title={named(texts.question)} staysInView {...panel}>
          <p>{named(texts.what)}</p>
          {trouble}
          <div class="actions">
            <Button busy={busy} onPress={() => void share()}>
              {texts.share}
            </Button>
            <Button kind="secondary" disabled={busy} onPress={decline}>
              {texts.notNow}
            </Button>
          </div>
        </Panel>
      );
    case 'shared':
      return state.sure ? (
        <Panel key="sure" title={texts.sure} {...panel}>
          <p>{named(texts.sureWhat)}</p>
          {trouble}
          <div class="actions">
            <Button kind="secondary" disabled={busy} onPress={() => become({ ...state, sure: false })}>
              {texts.keep}
            </Button>
            <Button kind="danger" busy={busy} onPress={() => void revoke()}>
              {texts.stopForGood}
            </Button>
          </div>
        </Panel>
      ) : (
        <Panel key="shared" title={named(texts.shared)} {...panel}>
          {state.until && <p>{fill(named(texts.sharedUntil), { until: day(language, state.until) })}</p>}
          <div class="actions">
            <Leave journey={journey} />
            <Button kind="secondary" onPress={() => become({ ...state, sure: true })}>
              {texts.stop}
            </Button>
          </div>
        </Panel>
      );
    case 'over':
      return (
        <Panel key="over" title={texts.over} {...panel}>
          <p>{texts.overWhat}</p>
          <Leave journey={journey} />
        </Panel>
      );
    case 'revoked':
      return (
        <Panel key="revoked" title={texts.revoked} {...panel}>
          <p>{named(texts.revokedWhat)}</p>
          <Leave journey={journey} />
        </Panel>
      );
    default:
      return state satisfies never;
  }
}

/** The API reveals sharing only to the account of the screening. */
function isStranger(status: number): boolean {
  return status === 403 || status === 404;
}

function stateOf({ status, expiresAt }: Sharing): State {
  switch (status) {
    case 'NOT_SHARED':
      return { kind: 'open', declined: false };
    case 'SHARED':
      return { kind: 'shared', until: expiresAt, sure: false };
    case 'REVOKED':
      return { kind: 'revoked' };
    case 'EXPIRED':
      return { kind: 'over' };
    default:
      return status satisfies never;
  }
}

interface PanelProps {
  readonly title: string;
  readonly takesFocus: boolean;
  readonly staysInView?: boolean;
  readonly children: ComponentChildren;
}

function Panel({ title, takesFocus, staysInView = false, children }: PanelProps) {
  const panel = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (takesFocus) heading.current?.focus();
    return staysInView && panel.current ? keepInView(panel.current) : undefined;
  }, []);
  return (
    <section class="share" ref={panel}>
      <h2 tabIndex={-1} ref={heading}>
        {title}
      </h2>
      {children}
    </section>
  );
}
