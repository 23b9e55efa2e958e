// The step in which the bank authenticates its customer: a modal dialog that fills the window, with a frame of the sandbox.
import { FrameLink, newFrame } from './frame-link.js';
import { colorSchemeOf, languageOf } from './look.js';
import { type Access, FRAME_WITHIN_MS, type Look, NOT_REACHED, type PaymentIntentResult } from './messages.js';

const TITLES = { en: 'Authenticate your payment', es: 'Autentique su pago' };
const FULL = {
  position: 'fixed',
  inset: '0',
  width: '100%',
  height: '100%',
  'max-width': 'none',
  'max-height': 'none',
  margin: '0',
  padding: '0',
  border: '0',
  overflow: 'hidden',
  background: 'transparent',
};

/** Returns the intent after the step. A closed dialog counts as a failed authentication. */
export function authenticate(origin: string, access: Access, look: Look): Promise<PaymentIntentResult> {
  const title = TITLES[languageOf(look.locale)];
  const before = document.activeElement;
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-label', title);
  for (const [property, value] of Object.entries(FULL)) dialog.style.setProperty(property, value);
  document.body.append(dialog);
  return new Promise((resolve) => {
    const frame = newFrame(title, { height: '100%', 'color-scheme': colorSchemeOf(look.appearance.theme) });
    const end = (result: PaymentIntentResult): void => {
      clearTimeout(timer);
      link.close();
      dialog.close();
      dialog.remove();
      if (before instanceof HTMLElement) before.focus();
      resolve(result);
    };
    const timer = setTimeout(() => end({ error: NOT_REACHED }), FRAME_WITHIN_MS);
    const link = new FrameLink(frame, origin, 'authentication', dialog, (event) => {
      if (event.event === 'ready') {
        clearTimeout(timer);
        frame.focus();
      }
      if (event.event === 'authenticated') end(event.result);
    });
    // The frame ends the step, because the frame must notify the processor.
    dialog.addEventListener('close', () => void link.ask('cancel', null).catch(() => null));
    dialog.showModal();
    void link.ask('start', { ...access, ...look }).catch(() => null);
  });
}
