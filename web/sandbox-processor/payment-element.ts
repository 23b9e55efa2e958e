// The element with the card fields. Typed values stay in the element's frame.
import { FrameLink, newFrame } from './frame-link.js';
import { IntegrationError } from './integration-error.js';
import { colorSchemeOf, languageOf } from './look.js';
import type { Access, FrameEvent, Look, Methods } from './messages.js';

const TITLES = { en: 'Secure payment input frame', es: 'Marco seguro para los datos de pago' };

const EVENTS = ['ready', 'change', 'focus', 'blur', 'escape', 'loaderror'] as const;
type EventName = (typeof EVENTS)[number];
type Handler = (event: object) => void;

export class PaymentElement {
  private readonly handlers = new Map<EventName, Set<Handler>>();
  private link: FrameLink | null = null;
  private destroyed = false;

  constructor(
    private readonly origin: string,
    private readonly access: Access,
    private look: Look,
    private readonly onDestroy: () => void,
  ) {}

  mount(place: string | HTMLElement): void {
    if (this.destroyed) throw new IntegrationError('This Element has already been destroyed. Please create a new one.');
    const container = typeof place === 'string' ? document.querySelector(place) : place;
    if (!(container instanceof HTMLElement))
      throw new IntegrationError(
        'The selector you specified applies to no DOM elements that are currently on the page. Make sure the element exists on the page before calling mount().',
      );
    this.unmount();
    const frame = newFrame(TITLES[languageOf(this.look.locale)], { height: '0' });
    this.link = new FrameLink(frame, this.origin, 'payment-element', container, (event) => this.hear(event));
    this.dress();
    void this.ask('start', { ...this.access, ...this.look });
  }

  unmount(): void {
    this.link?.close();
    this.link = null;
  }

  destroy(): void {
    this.unmount();
    this.handlers.clear();
    this.destroyed = true;
    this.onDestroy();
  }

  /** Accepts the options of the processor's library; none of them has an effect here. */
  update(_options?: object): this {
    return this;
  }

  focus(): void {
    this.link?.frame.focus();
    void this.ask('focus', null);
  }

  blur(): void {
    void this.ask('blur', null);
  }

  clear(): void {
    void this.ask('clear', null);
  }

  on(name: string, handler: Handler): this {
    const event = EVENTS.find((each) => each === name);
    if (event !== undefined) this.handlers.set(event, (this.handlers.get(event) ?? new Set()).add(handler));
    return this;
  }

  once(name: string, handler: Handler): this {
    const first: Handler = (event) => {
      this.off(name, first);
      handler(event);
    };
    return this.on(name, first);
  }

  off(name: string, handler?: Handler): this {
    for (const [event, handlers] of this.handlers) {
      if (event !== name) continue;
      if (handler === undefined) handlers.clear();
      else handlers.delete(handler);
    }
    return this;
  }

  /** Used by the library. */
  async changeLook(look: Look): Promise<void> {
    this.look = look;
    this.dress();
    await this.ask('look', look);
  }

  /** Used by the library: requests that only a mounted element can answer. */
  async mounted<M extends 'submit' | 'confirm'>(method: M, parameter: Methods[M][0]): Promise<Methods[M][1]> {
    const result = await this.ask(method, parameter);
    if (result !== null) return result;
    throw new IntegrationError(
      'We could not retrieve data from the specified Element. Please make sure the Element you are attempting to use is still mounted.',
    );
  }

  /** Null if the page has no frame, and when the frame was removed before it answered. */
  private async ask<M extends keyof Methods>(method: M, parameter: Methods[M][0]): Promise<Methods[M][1] | null> {
    return this.link?.ask(method, parameter).catch(() => null) ?? null;
  }

  /** A frame gets an opaque background when its colour scheme differs from that of its document. */
  private dress(): void {
    this.link?.frame.style.setProperty('color-scheme', colorSchemeOf(this.look.appearance.theme));
    if (this.link !== null) this.link.frame.title = TITLES[languageOf(this.look.locale)];
  }

  private hear(event: FrameEvent): void {
    switch (event.event) {
      case 'height':
        this.link?.frame.style.setProperty('height', `${Math.ceil(event.height)}px`);
        return;
      case 'enter':
        this.link?.frame.closest('form')?.requestSubmit();
        return;
      case 'change': {
        const { complete, empty } = event;
        return this.tell('change', { complete, empty, collapsed: false, value: { type: 'card' } });
      }
      case 'loaderror':
        return this.tell('loaderror', { error: event.error });
      case 'ready':
      case 'focus':
      case 'blur':
      case 'escape':
        return this.tell(event.event, {});
      case 'authenticated':
        return;
      default:
        event satisfies never;
    }
  }

  private tell(name: EventName, more: object): void {
    for (const handler of [...(this.handlers.get(name) ?? [])]) handler({ elementType: 'payment', ...more });
  }
}
