// The sandbox's browser library of the payment processor. The library sets the global Stripe, and nothing else. The library has the functions that a
// payment with the Payment Element needs (docs/sandbox.md).
import { authenticate } from './authentication-step.js';
import { FrameLink, newFrame } from './frame-link.js';
import { IntegrationError } from './integration-error.js';
import { appearanceOf } from './look.js';
import {
  type Access,
  FRAME_WITHIN_MS,
  isRecord,
  type Look,
  NOT_REACHED,
  type PaymentIntentResult,
} from './messages.js';
import { PaymentElement } from './payment-element.js';

interface ElementsOptions {
  readonly clientSecret?: string;
  readonly locale?: string;
  readonly appearance?: unknown;
}

interface ConfirmOptions {
  readonly elements?: unknown;
  readonly redirect?: string;
}

const CLIENT_SECRET = /^pi_\w+_secret_\w+$/;

const { currentScript } = document;
const origin = currentScript instanceof HTMLScriptElement ? new URL(currentScript.src).origin : location.origin;

class Elements {
  private element: PaymentElement | null = null;

  constructor(
    readonly access: Access,
    public look: Look,
  ) {}

  create(type: string, _options?: object): PaymentElement {
    if (type !== 'payment') throw new IntegrationError('The sandbox has the payment Element only.');
    if (this.element !== null)
      throw new IntegrationError(
        'Can only create one Element of type payment. You can retrieve a previously created element by calling elements.getElement("payment").',
      );
    return (this.element = new PaymentElement(origin, this.access, this.look, () => {
      this.element = null;
    }));
  }

  getElement(type: string): PaymentElement | null {
    return type === 'payment' ? this.element : null;
  }

  async update({ locale = this.look.locale, appearance }: ElementsOptions): Promise<void> {
    this.look = { locale, appearance: appearance === undefined ? this.look.appearance : appearanceOf(appearance) };
    await this.element?.changeLook(this.look);
  }

  /** Missing parts of the card are shown next to their fields and returned. */
  submit(): Promise<object> {
    return this.created().mounted('submit', null);
  }

  /** For confirmPayment. */
  confirm(): Promise<PaymentIntentResult> {
    return this.created().mounted('confirm', null);
  }

  private created(): PaymentElement {
    if (this.element !== null) return this.element;
    throw new IntegrationError('elements should have a mounted Payment Element.');
  }
}

class StripeClient {
  constructor(private readonly key: string) {}

  elements({ clientSecret, locale = 'auto', appearance }: ElementsOptions = {}): Elements {
    if (clientSecret === undefined || !CLIENT_SECRET.test(clientSecret))
      throw new IntegrationError(
        'Invalid value for elements(): clientSecret should be a client secret of the form ${id}_secret_${secret}.',
      );
    return new Elements({ key: this.key, clientSecret }, { locale, appearance: appearanceOf(appearance) });
  }

  /** Resolves with an error when the payment is declined. Rejects if the page uses the library incorrectly. */
  async confirmPayment({ elements, redirect }: ConfirmOptions): Promise<PaymentIntentResult> {
    if (!(elements instanceof Elements))
      throw new IntegrationError('Invalid value for confirmPayment(): elements should be an Elements instance.');
    if (redirect !== 'if_required')
      throw new IntegrationError("The sandbox redirects nowhere: confirmPayment() needs redirect: 'if_required'.");
    const result = await elements.confirm();
    if (result.paymentIntent?.status !== 'requires_action') return result;
    return authenticate(origin, elements.access, elements.look);
  }

  /** The call uses a frame of the sandbox, so that the page's policy needs to allow only frames. */
  retrievePaymentIntent(clientSecret: string): Promise<PaymentIntentResult> {
    if (!CLIENT_SECRET.test(clientSecret))
      throw new IntegrationError('Invalid value for retrievePaymentIntent intent secret.');
    const frame = newFrame('', { display: 'none' });
    const link = new FrameLink(frame, origin, 'payment-element', document.body, () => undefined);
    return new Promise<PaymentIntentResult>((resolve) => {
      const timer = setTimeout(() => resolve({ error: NOT_REACHED }), FRAME_WITHIN_MS);
      link.ask('retrieve', { key: this.key, clientSecret }).then(
        (result) => {
          clearTimeout(timer);
          resolve(result);
        },
        () => undefined,
      );
    }).finally(() => link.close());
  }
}

function Stripe(key: unknown, options?: unknown): StripeClient {
  if (typeof key !== 'string' || key === '')
    throw new IntegrationError('Please call Stripe() with your publishable key. You used an empty string.');
  if (!key.startsWith('pk_'))
    throw new IntegrationError('You should use your publishable key with Stripe.js: it begins with pk_.');
  if (options !== undefined && !isRecord(options))
    throw new IntegrationError('Invalid value for Stripe(): options should be an object.');
  return new StripeClient(key);
}

Object.defineProperty(globalThis, 'Stripe', { value: Stripe, configurable: true, enumerable: true });
