// The frame with the card fields. Only this frame sends a card to the sandbox.
import type { Language } from '../look.js';
import type { Access, Look, PaymentIntentResult, SubmitResult } from '../messages.js';
import { confirm, retrieve } from './api.js';
import { CardForm } from './card-form.js';
import { listen } from './page-port.js';
import { dressPage, translated } from './page-look.js';
import { TEXTS } from './texts.js';

let access: Access | null = null;
let language: Language = 'en';

const form = new CardForm(() => page.tell({ event: 'change', complete: form.complete, empty: form.empty }));

const page = listen({
  start: async ({ key, clientSecret, ...look }) => {
    access = { key, clientSecret };
    show(look);
    const { error } = await retrieve(access);
    page.tell(error === undefined ? { event: 'ready' } : { event: 'loaderror', error: translated(error, language) });
    return null;
  },
  look: (look) => show(look),
  focus: () => {
    form.focus();
    return null;
  },
  blur: () => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    return null;
  },
  clear: () => {
    form.clear();
    return null;
  },
  submit: (): SubmitResult => {
    const error = form.check();
    return error === null ? { selectedPaymentMethod: 'card' } : { error };
  },
  confirm: async (): Promise<PaymentIntentResult> => {
    const problem = form.check();
    if (problem !== null) return { error: problem };
    if (access === null) return { error: { type: 'api_error', message: 'The Element has not started.' } };
    const result = await confirm(access, form.card);
    if (result.error === undefined) return result;
    form.showRefusal(result.error);
    return { error: translated(result.error, language) };
  },
  retrieve: (asked) => retrieve(asked),
});

function show(look: Look): null {
  language = dressPage(look);
  document.title = TEXTS[language].card;
  form.say(language);
  tellHeight();
  return null;
}

function tellHeight(): void {
  page.tell({ event: 'height', height: document.body.offsetHeight });
}

document.body.append(form.element);
new ResizeObserver(tellHeight).observe(document.body);
globalThis.addEventListener('focus', () => page.tell({ event: 'focus' }));
globalThis.addEventListener('blur', () => page.tell({ event: 'blur' }));
globalThis.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') page.tell({ event: 'escape' });
  if (key === 'Enter') page.tell({ event: 'enter' });
});
