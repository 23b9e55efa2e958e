// The step in which the consumer pays for the screening. The card fields belong to the processor.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Intent, Payment, Refusal } from '../../api/wire.js';
import { browser } from '../../browser.js';
import type { Journey, StepProps } from '../../journey.js';
import { useAnnounced } from '../../parts/announcer.js';
import { day } from '../../parts/day.js';
import { fill, useTexts } from '../../parts/language.js';
import { money } from '../../parts/money.js';
import { Alert, Button, Spinner, StepFrame } from '../../parts/step.js';
import { loadScript } from '../../trusted-types.js';
import { VerifyAgain } from '../report/unavailable.js';
import { openPayment } from './open.js';
import { type CardForm, openCardForm } from './processor.js';
import { settled } from './settle.js';
import { type Problem, TEXTS } from './texts.js';

type Shown =
  | { readonly kind: 'opening' }
  | { readonly kind: 'card'; readonly paying: boolean }
  | { readonly kind: 'processing' }
  /** The payment takes so long that the person must request its state. */
  | { readonly kind: 'slow'; readonly again: () => void }
  | { readonly kind: 'unavailable' }
  /** This verification can bring no report, so the person need not pay for it. */
  | { readonly kind: 'no-report' };

/** The time limit for the card fields, which another company serves. */
const READY_LIMIT_MS = 30_000;

export function PaymentStep({ journey }: StepProps) {
  const texts = useTexts(TEXTS);
  const place = useRef<HTMLDivElement>(null);
  const card = useRef<CardForm | null>(null);
  const intent = useRef<Intent | null>(null);
  const fee = useRef(journey.start.applicationFee);
  const gone = useRef(new AbortController());
  const [shown, show] = useState<Shown>({ kind: 'opening' });
  const [visit, setVisit] = useState(0);
  /** Because of the count, a repeated problem is announced as a new message. */
  const [problem, setProblem] = useState<{ readonly what: Problem; readonly count: number } | null>(null);

  useAnnounced(announcementOf(shown, texts));
  useEffect(() => {
    const leaving = new AbortController();
    gone.current = leaving;
    void open(leaving.signal);
    return () => {
      leaving.abort();
      card.current?.close();
      card.current = null;
    };
  }, [visit]);

  async function open(signal: AbortSignal): Promise<void> {
    show({ kind: 'opening' });
    const [opened, isLoaded] = await Promise.all([
      openPayment(journey, browser.pause, signal),
      loadScript(journey.settings, journey.settings.processor.scriptUrl),
    ]);
    if (signal.aborted) return;
    switch (opened.kind) {
      case 'intent':
        // The step cannot be shown now, but another try may succeed. The API did not refuse, and the account is configured.
        if (!isLoaded || !globalThis.Stripe) return stop('COMPONENT_RENDER_FAILED');
        intent.current = opened.intent;
        fee.current = opened.applicationFee;
        return showCard(opened.intent, signal);
      case 'under-way':
        return follow(opened.transactionId, signal);
      case 'over':
        return journey.follow(opened.status);
      case 'unsettled':
        return show({ kind: 'slow', again: () => setVisit(visit + 1) });
      case 'refused':
        return refused(opened.refusal);
      default:
        return opened satisfies never;
    }
  }

  function stop(why: Parameters<Journey['fail']>[0], kind: 'unavailable' | 'no-report' = 'unavailable'): void {
    journey.fail(why);
    show({ kind });
  }

  /** A permanent refusal is a fault of the step, unless the token is missing. */
  function refused(refusal: Refusal): void {
    if (refusal.code === 'REPORT_NOT_AVAILABLE') return stop(refusal, 'no-report');
    const isToldAsItIs = refusal.recoverable || refusal.code === 'AUTH_TOKEN_INVALID';
    stop(isToldAsItIs ? refusal : 'SYSTEM_INTERNAL_ERROR');
  }

  function showCard({ client_secret: clientSecret }: Intent, signal: AbortSignal): void {
    if (!place.current) return;
    const failed = (): void => {
      clearTimeout(limit);
      if (!signal.aborted) stop('COMPONENT_RENDER_FAILED');
    };
    const limit = setTimeout(failed, READY_LIMIT_MS);
    const form = {
      place: place.current,
      language: journey.language,
      publishableKey: journey.settings.processor.publishableKey,
      clientSecret,
      onReady: () => {
        clearTimeout(limit);
        if (!signal.aborted) show({ kind: 'card', paying: false });
      },
      onFailed: failed,
      onChange: (complete: boolean) => !signal.aborted && journey.changed(complete),
    };
    try {
      card.current = openCardForm(form);
    } catch {
      // The library rejects the service's configuration, such as a key of another environment.
      failed();
    }
  }

  async function pay(): Promise<void> {
    const { signal } = gone.current;
    if (!card.current || !intent.current) return;
    show({ kind: 'card', paying: true });
    setProblem(null);
    const outcome = await card.current.pay();
    if (signal.aborted) return;
    if (outcome === 'settled') return follow(intent.current.transaction_id, signal);
    tellProblem(outcome);
    show({ kind: 'card', paying: false });
  }

  async function follow(transactionId: string, signal: AbortSignal): Promise<void> {
    const onProcessing = (): void => show({ kind: 'processing' });
    const answer = await settled({ api: journey.api, transactionId, pause: browser.pause, onProcessing, signal });
    if (signal.aborted) return;
    if (answer === null) return show({ kind: 'slow', again: () => void follow(transactionId, signal) });
    if (!answer.ok) return refused(answer.error);
    if (answer.body.status === 'SUCCEEDED') return paid(answer.body);
    tellProblem(answer.body.status === 'REQUIRES_ACTION' ? 'notAuthenticated' : 'notPaid');
    setVisit(visit + 1);
  }

  function paid({ transaction_id: transactionId, amount, currency }: Payment): void {
    journey.tell('onPaymentSuccess', { sessionId: journey.session?.id ?? '', transactionId, amount, currency });
    journey.next();
  }

  function tellProblem(what: Problem): void {
    setProblem((before) => ({ what, count: (before?.count ?? 0) + 1 }));
  }

  if (shown.kind === 'no-report') return <VerifyAgain journey={journey} />;
  // Shows the amount of the intent, if known, because the price may have changed since the view was opened.
  const order = orderOf(journey, intent.current, fee.current ?? 0);
  const showsCard = shown.kind === 'card';
  const { session } = journey;
  const refundedAt = session !== null && 'refundedAt' in session && session.refundedAt;
  return (
    <StepFrame
      title={texts.title}
      lead={refundedAt ? fill(texts.refunded, { date: day(journey.language, refundedAt) }) : texts.why}
    >
      <Standing shown={shown} order={order} onAgain={() => setVisit(visit + 1)} />
      {shown.kind === 'opening' && <Spinner text={texts.opening} />}
      {problem && !['unavailable', 'slow'].includes(shown.kind) && (
        <Alert key={problem.count}>{texts[problem.what]}</Alert>
      )}
      <form
        hidden={shown.kind !== 'opening' && !showsCard}
        onSubmit={(event) => {
          event.preventDefault();
          if (showsCard && !shown.paying) void pay();
        }}
      >
        <div ref={place} />
        {showsCard && (
          <>
            <Button busy={shown.paying}>
              {shown.paying ? texts.paying : fill(texts.pay, { amount: order.total })}
            </Button>
            <p class="hint">
              {texts.once} {texts.whoSeesTheCard}
            </p>
          </>
        )}
      </form>
    </StepFrame>
  );
}

function announcementOf(shown: Shown, { paying }: { readonly paying: string }): string | null {
  return shown.kind === 'card' && shown.paying ? paying : null;
}

interface StandingProps {
  readonly shown: Shown;
  readonly order: Order;
  readonly onAgain: () => void;
}

/** The order, or the state of the payment. */
function Standing({ shown, order, onAgain }: StandingProps) {
  const texts = useTexts(TEXTS);
  switch (shown.kind) {
    case 'processing':
      return (
        <>
          <Spinner text={texts.processing} />
          <p class="hint">{texts.stayOrLeave}</p>
        </>
      );
    case 'slow':
      return (
        <>
          <Alert kind="note" title={texts.processing} focus>
            <p>{texts.comeBack}</p>
          </Alert>
          <Button onPress={shown.again}>{texts.checkAgain}</Button>
        </>
      );
    case 'unavailable':
      return (
        <>
          <Alert focus>{texts.unavailable}</Alert>
          <Button onPress={onAgain}>{texts.tryAgain}</Button>
        </>
      );
    default:
      return (
        <dl class="order">
          <div>
            <dt>{texts.order}</dt>
            <dd>{order.screening}</dd>
          </div>
          {order.applicationFee && (
            <>
              <div>
                <dt>{texts.applicationFee}</dt>
                <dd>{order.applicationFee}</dd>
              </div>
              <div>
                <dt>{texts.amount}</dt>
                <dd>{order.total}</dd>
              </div>
            </>
          )}
        </dl>
      );
  }
}

interface Order {
  readonly total: string;
  /** The total without the application fee. */
  readonly screening: string;
  readonly applicationFee: string | null;
}

function orderOf({ options: { price: told }, language }: Journey, intent: Intent | null, feeCents: number): Order {
  const price = intent ?? told;
  if (!price) return { total: '', screening: '', applicationFee: null };
  const exponent = price.currency === told?.currency ? told.exponent : undefined;
  const written = (cents: number): string => money(language, cents, price.currency, exponent);
  const fee = Math.min(feeCents, price.amount);
  return {
    total: written(price.amount),
    screening: written(price.amount - fee),
    applicationFee: fee > 0 ? written(fee) : null,
  };
}
