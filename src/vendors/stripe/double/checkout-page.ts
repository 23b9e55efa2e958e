// The hosted checkout page: a plain form for people and tests, which pays with a card that works or one that does not.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
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
        return html(reply.code(error.status), page('Checkout', `<p role="alert">${escaped(error.message)}</p>`));
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
  const [, method = 'pm_card_visa'] = request.body?.find(([name]) => name === 'payment_method') ?? [];
  const session = engine.session(request.params.id);
  // A second press of the button finds the session paid, and goes where the first one went.
  if (session.status === 'complete') return reply.redirect(successAddress(session), 303);
  const intent = session.intentId === null ? null : engine.intent(session.intentId);
  const tried = paySession(session, intent, method, engine.now(), engine.settleMs);
  const completed =
    tried.session.status === 'complete'
      ? [engine.event('checkout.session.completed', sessionObject(tried.session), tried.session.intentId, null)]
      : [];
  const changes = engine.intentChanges(tried.change, null);
  await engine.happen({ ...changes, sessions: [tried.session], events: [...changes.events, ...completed] });
  if (tried.session.status === 'complete') return reply.redirect(successAddress(tried.session), 303);
  return html(reply.code(402), checkout(tried.session, 'Your card was declined.'));
}

function checkout(session: CheckoutSession, problem: string | null): string {
  const amount = new Intl.NumberFormat('en-US', { style: 'currency', currency: session.currency }).format(
    session.amount / 100,
  );
  const alert = problem === null ? '' : `<p role="alert">${escaped(problem)}</p>`;
  if (session.status !== 'open')
    return page('Checkout', `<p role="status">This checkout session is ${session.status}.</p>`);
  const button = (method: string, label: string): string =>
    `<button name="payment_method" value="${method}">${label}</button>`;
  return page(
    'Checkout',
    `<p>${escaped(session.productName)}: <strong>${escaped(amount)}</strong></p>${alert}
<form method="post" action="/checkout/${session.id}/pay">
${button('pm_card_visa', 'Pay with a card that works')}
${button('pm_card_chargeDeclined', 'Pay with a card that is declined')}
</form>
<form method="post" action="/checkout/${session.id}/cancel"><button>Cancel</button></form>`,
  );
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${title} (sandbox)</title><meta name="viewport" content="width=device-width">
<style>body{font:16px/1.5 system-ui;max-width:32rem;margin:3rem auto;padding:0 1rem}button{display:block;width:100%;padding:.6rem;margin:.5rem 0;font:inherit}</style>
<h1>${title}</h1>
<p>A sandbox: no money moves here.</p>
${content}
</html>
`;
}

function html(reply: FastifyReply, content: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(content);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
