// The hosted checkout page: plain forms for people and tests, without scripts. The page offers two cards as buttons, and accepts a typed card.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { amountText } from './amounts.js';
import { HOSTED_PAGE_CARDS, grouped, methodOf } from './cards.js';
import { paySession, successAddress } from './checkout-sessions.js';
import type { Engine } from './engine.js';
import { ProcessorError } from './errors.js';
import { type FormEntries, formEntries } from './form.js';
import { sessionObject } from './objects.js';
import type { CheckoutSession } from './state.js';

type Incoming = FastifyRequest<{ Params: { id: string }; Body: FormEntries | undefined }>;

export function mountCheckoutPage(server: FastifyInstance, engine: Engine): void {
  server.register(
    (pages, _options, done) => {
      pages.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, parsed) =>
        parsed(null, formEntries(String(body))),
      );
      pages.setErrorHandler((error, _request, reply) => {
        if (!(error instanceof ProcessorError)) throw error;
        return html(reply.code(error.status), page(`<p role="alert">${escaped(error.message)}</p>`));
      });
      pages.get('/:id', (request: Incoming, reply) => html(reply, checkout(engine.session(request.params.id), null)));
      pages.post('/:id/pay', (request: Incoming, reply) => pay(engine, request, reply));
      pages.post('/:id/cancel', (request: Incoming, reply) => {
        const { cancelUrl, id } = engine.session(request.params.id);
        return reply.redirect(cancelUrl ?? `/checkout/${id}`, 303);
      });
      done();
    },
    { prefix: '/checkout' },
  );
}

async function pay(engine: Engine, request: Incoming, reply: FastifyReply): Promise<FastifyReply> {
  const session = engine.session(request.params.id);
  // After a second press of the button, the session is already paid, and the page redirects as after the first press.
  if (session.status === 'complete') return reply.redirect(successAddress(session), 303);
  if (session.status === 'expired') return html(reply.code(400), checkout(session, null));
  const chosen = chosenMethod(request.body ?? [], engine.now());
  if ('problem' in chosen) return html(reply.code(402), checkout(session, chosen.problem));
  const tried = await payOnPage(engine, session, chosen.method);
  if (tried.status === 'complete') return reply.redirect(successAddress(tried), 303);
  return html(reply.code(402), checkout(tried, 'Your card was declined. Try another one.'));
}

/** One try to pay the session. Returns the session after the try. */
export async function payOnPage(
  engine: Engine,
  session: CheckoutSession,
  paymentMethod: string,
): Promise<CheckoutSession> {
  const intent = session.intentId === null ? null : engine.intent(session.intentId);
  const tried = paySession(session, intent, paymentMethod, { now: engine.now(), settleMs: engine.settleMs });
  const completed =
    tried.session.status === 'complete'
      ? [engine.event('checkout.session.completed', sessionObject(tried.session), tried.session.intentId, null)]
      : [];
  const changes = engine.intentChanges(tried.change, null);
  await engine.happen({ ...changes, sessions: [tried.session], events: [...changes.events, ...completed] });
  return tried.session;
}

/** The payment method of the pressed button, or of the typed card. */
function chosenMethod(form: FormEntries, now: number): { readonly method: string } | { readonly problem: string } {
  const field = (name: string): string | undefined => form.find(([key]) => key === name)?.[1];
  const number = field('number');
  if (number === undefined) return { method: field('payment_method') ?? 'pm_card_visa' };
  return methodOf({ number, expiry: field('expiry') ?? '', cvc: field('cvc') ?? '' }, now);
}

function checkout(session: CheckoutSession, problem: string | null): string {
  const amount = escaped(amountText(session.amount, session.currency));
  if (session.status === 'complete') return page('<p role="status">This is paid. You may close this page.</p>');
  if (session.status === 'expired')
    return page('<p role="status">This page has expired or was replaced by a newer one. Nothing was paid here.</p>');
  const alert = problem === null ? '' : `<p role="alert">${escaped(problem)}</p>`;
  const input = (name: string, label: string, autocomplete: string, placeholder: string): string =>
    `<label>${label}<input name="${name}" required inputmode="numeric" autocomplete="${autocomplete}" placeholder="${placeholder}"></label>`;
  const cards = [...HOSTED_PAGE_CARDS]
    .map(([number, { what }]) => `<li><code>${grouped(number)}</code> ${what}</li>`)
    .join('\n');
  return page(
    `<dl><dt>${escaped(session.productName)}</dt><dd>${amount}</dd></dl>
${alert}
<form method="post" action="/checkout/${session.id}/pay">
${input('number', 'Card number', 'cc-number', '4242 4242 4242 4242')}
<div>${input('expiry', 'Expiry (MM/YY)', 'cc-exp', '12/34')}${input('cvc', 'Security code', 'cc-csc', '123')}</div>
<button class="main">Pay ${amount}</button>
</form>
<form method="post" action="/checkout/${session.id}/cancel"><button>Cancel</button></form>
<aside>
<h2>Test cards</h2>
<p>Any future expiry and any security code. Never type in a real card.</p>
<ul>
${cards}
</ul>
<form method="post" action="/checkout/${session.id}/pay">
<button name="payment_method" value="pm_card_visa">Pay with a card that works</button>
<button name="payment_method" value="pm_card_chargeDeclined">Pay with a card that is declined</button>
</form>
</aside>`,
  );
}

const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:0 auto;padding:2.5rem 1rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1rem;margin:0}
header p{margin:.25rem 0 1.5rem;opacity:.7}
dl{display:flex;justify-content:space-between;gap:1rem;font-size:1.15rem;margin:0 0 1.5rem}
dd{margin:0;font-weight:600}
label{display:block;flex:1;font-size:.9rem}
form div{display:flex;gap:.75rem}
input,button{box-sizing:border-box;width:100%;font:inherit;padding:.65rem .75rem;margin:.25rem 0 .75rem;border:1px solid #8886;border-radius:.4rem}
button{cursor:pointer;background:transparent;color:inherit}
button.main{background:#2447c5;border-color:#2447c5;color:#fff;font-weight:600}
:focus-visible{outline:2px solid #5b7cfa;outline-offset:1px}
[role=alert],[role=status]{border-radius:.4rem;padding:.65rem .75rem;margin:0 0 1rem;background:#8882}
[role=alert]{background:#c6282826}
aside{border-top:1px solid #8884;margin-top:1.5rem;padding-top:1rem;font-size:.9rem}
ul{padding-left:1.2rem}`;

function page(content: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Checkout (sandbox)</title>
<meta name="viewport" content="width=device-width"><style>
${STYLE}
</style></head>
<body><header><h1>Checkout</h1><p>A sandbox: no money moves here.</p></header>
<main>
${content}
</main></body></html>
`;
}

function html(reply: FastifyReply, content: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(content);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
