// The step in which the bank authenticates its customer. The customer passes or fails.
import type { Language } from '../look.js';
import type { Access, PaymentIntentResult } from '../messages.js';
import { authenticate } from './api.js';
import { listen } from './page-port.js';
import { dressPage, translated } from './page-look.js';
import { TEXTS } from './texts.js';

let access: Access | null = null;
let language: Language = 'en';
let over = false;

const dialog = document.createElement('div');
const heading = document.createElement('h1');
const explanation = document.createElement('p');
const complete = button('main', () => end('success'));
const fail = button('', () => end('failure'));

const page = listen({
  start: ({ key, clientSecret, locale, appearance: { theme } }) => {
    access = { key, clientSecret };
    // A bank's page does not use the colours of a shop.
    language = dressPage({ locale, appearance: theme === undefined ? {} : { theme } });
    const texts = TEXTS[language];
    document.title = heading.textContent = texts.authentication;
    explanation.textContent = texts.explanation;
    complete.textContent = texts.complete;
    fail.textContent = texts.fail;
    page.tell({ event: 'ready' });
    complete.focus();
    return null;
  },
  cancel: async () => {
    await end('failure');
    return null;
  },
});

async function end(outcome: 'success' | 'failure'): Promise<void> {
  if (access === null || over) return;
  over = true;
  complete.disabled = fail.disabled = true;
  page.tell({ event: 'authenticated', result: resultOf(await authenticate(access, outcome)) });
}

/** After a failed authentication the intent is open again, and the page gets an error. */
function resultOf(result: PaymentIntentResult): PaymentIntentResult {
  if (result.error !== undefined) return { error: translated(result.error, language) };
  const { paymentIntent } = result;
  if (paymentIntent.last_payment_error === null) return result;
  return { error: translated({ ...paymentIntent.last_payment_error, payment_intent: paymentIntent }, language) };
}

function button(className: string, press: () => Promise<void>): HTMLButtonElement {
  const element = document.createElement('button');
  element.type = 'button';
  element.className = className;
  element.addEventListener('click', () => void press());
  return element;
}

const scrim = document.createElement('div');
const buttons = document.createElement('div');
scrim.className = 'scrim';
buttons.className = 'buttons';
dialog.className = 'dialog';
dialog.setAttribute('role', 'dialog');
dialog.setAttribute('aria-modal', 'true');
heading.id = 'heading';
explanation.id = 'explanation';
dialog.setAttribute('aria-labelledby', heading.id);
dialog.setAttribute('aria-describedby', explanation.id);
buttons.append(complete, fail);
dialog.append(heading, explanation, buttons);
scrim.append(dialog);
document.body.append(scrim);
globalThis.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') void end('failure');
});
