// One view in the page, from `mount` to `unmount`: the frame, the port to the frame, and the callbacks that the view calls.
import { connect, type Connection, PortMessenger, type RemoteProxy } from 'penpal';
import type { CallbackName, CallbackPayloads } from '../contract/callbacks.js';
import { hostError } from '../contract/host-codes.js';
import { languageOf } from '../contract/language.js';
import {
  type Area,
  type FrameEvent,
  type FrameMethods,
  type FrameStart,
  type PageMethods,
  PORT_MESSAGE,
  PROTOCOL,
  type Token,
} from '../contract/messages.js';
import { MIN_HEIGHT, readArea, readFrameEvent } from '../contract/read-messages.js';
import { TITLES } from '../contract/titles.js';
import { readUuid } from '../contract/read-values.js';
import { hint, unheard } from './console.js';
import { Listeners } from './listeners.js';
import type { Mount } from './mount-options.js';
import type { Settings } from './settings.js';
import type { ErrorPayload, Exchanged } from './token-exchange.js';
import type { Tokens } from './tokens.js';

const LOAD_TIMEOUT_MS = 30_000;

/** The parts of the instance that a view needs. */
export interface Host {
  readonly settings: Settings;
  readonly tokens: Tokens;
  readonly listeners: Listeners;
  closed(view: FrameView): void;
}

export class FrameView {
  readonly #listeners = new Listeners();
  #frame: HTMLIFrameElement | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #connection: Connection<FrameMethods> | null = null;
  /** The frame, when it has received its first message. */
  #started: RemoteProxy<FrameMethods> | null = null;
  #isClosed = false;
  #screeningId: string | null;

  constructor(
    readonly mount: Mount,
    private readonly host: Host,
  ) {
    this.#screeningId = mount.screeningId;
    for (const [name, callback] of Object.entries(mount.callbacks)) this.#listeners.add(name as CallbackName, callback);
  }

  get screeningId(): string | null {
    return this.#screeningId;
  }

  /** Puts the frame into the page. Failures are reported to `onError`, and only after `mount` has resolved. */
  open(): void {
    if (this.mount.view === 'report' && this.mount.userType !== 'CONSUMER')
      return this.#failSoon('SYSTEM_CONFIGURATION_ERROR');
    try {
      this.#frame = this.#createFrame();
      this.mount.element.append(this.#frame);
    } catch {
      return this.#failSoon('IFRAME_ERROR');
    }
    this.#waitForHandshake();
    void this.host.tokens.current();
  }

  /** Whether the element still contains the frame. The page may have emptied the element itself. */
  isInPage(): boolean {
    return this.#frame === null || (this.#frame.isConnected && this.#frame.parentElement === this.mount.element);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopTimer();
    this.#disconnect();
    this.#listeners.clear();
    this.#frame?.removeEventListener('load', this.#greet);
    this.#frame?.removeEventListener('error', this.#loadFailed);
    this.#halt();
    this.#frame?.remove();
    this.#frame = null;
    this.host.closed(this);
  }

  /** Receives the result of each token exchange of the instance. */
  settled(exchanged: Exchanged): void {
    if ('token' in exchanged) void this.#started?.renewed(exchanged.token).catch(ignore);
    else if (this.#started) this.#tell({ name: 'onError', payload: Object.freeze(exchanged.error) });
    else this.#fail(exchanged.error);
  }

  /** Passes on the language and the appearance that the page has now. */
  dress(): void {
    const { locale, appearance } = this.host.settings;
    if (this.#frame) this.#frame.title = this.#title();
    void this.#started?.dressed({ locale, appearance }).catch(ignore);
  }

  #title(): string {
    return TITLES[this.mount.view][languageOf([this.host.settings.locale, ...navigator.languages])];
  }

  #createFrame(): HTMLIFrameElement {
    const { publishableKey, embeddedUrl } = this.host.settings;
    let address = `${embeddedUrl}/?key=${publishableKey}`;
    const frame = document.createElement('iframe');
    frame.title = this.#title();
    frame.allow = 'payment';
    // The full address of the page may identify its visitor.
    frame.referrerPolicy = 'origin';
    frame.setAttribute('frameborder', '0');
    frame.setAttribute('width', '100%');
    frame.style.height = `${MIN_HEIGHT}px`;
    frame.addEventListener('load', this.#greet);
    frame.addEventListener('error', this.#loadFailed);
    // An isolated page shows a frame without credentials, if the browser supports this. Otherwise the page shows only frames that isolate themselves.
    if (crossOriginIsolated)
      if ('credentialless' in frame) frame.credentialless = true;
      else address += '&isolated';
    frame.src = address;
    return frame;
  }

  /** Sends a port to the document that the frame has just loaded. A frame may load again at any time, and then gets a new port. */
  readonly #greet = (): void => {
    this.#disconnect();
    if (this.#timer === undefined) this.#waitForHandshake();
    const { port1, port2 } = new MessageChannel();
    const connection = connect<FrameMethods>({ messenger: new PortMessenger({ port: port1 }), methods: this.#methods });
    this.#connection = connection;
    void connection.promise.then((frame) => this.#start(connection, frame), ignore);
    this.#frame?.contentWindow?.postMessage(PORT_MESSAGE, new URL(this.host.settings.embeddedUrl).origin, [port2]);
  };

  readonly #loadFailed = (): void => this.#fail(hostError('IFRAME_LOAD_FAILED'));

  /** The object has no prototype, because penpal calls any method here that the frame names. */
  readonly #methods: PageMethods = Object.assign(Object.create(null) as object, {
    emit: (event: unknown) => {
      const read = readFrameEvent(event);
      return read !== null && this.#tell(read);
    },
    session: (sessionId: unknown) => {
      this.#screeningId = readUuid(sessionId) ?? this.#screeningId;
    },
    show: (area: unknown) => this.#show(readArea(area)),
    token: (refused: unknown) => this.host.tokens.insteadOf(typeof refused === 'string' ? refused : null),
  });

  async #start(connection: Connection<FrameMethods>, frame: RemoteProxy<FrameMethods>): Promise<void> {
    if (connection !== this.#connection) return;
    this.#stopTimer();
    const token = await this.host.tokens.current();
    if (connection !== this.#connection || token === null) return;
    this.#started = frame;
    this.#warn();
    // A listener of the warning may have unmounted the view.
    if (connection === this.#connection) await frame.start(this.#startWith(token)).catch(ignore);
  }

  #startWith(token: Token): FrameStart {
    const { view, unitAddress, userType, endUserType, applicationFee, productId, prefill } = this.mount;
    const { settings } = this.host;
    return {
      protocol: PROTOCOL,
      view,
      token,
      unitAddress,
      userType,
      endUserType,
      applicationFee,
      productId,
      screeningId: this.#screeningId,
      prefill,
      locale: settings.locale,
      appearance: settings.appearance,
    };
  }

  /** Warnings that the page can give before the frame is loaded. */
  #warn(): void {
    const fields = this.mount.invalidPrefillFields;
    if (fields.length > 0)
      this.#tellWarning({
        code: 'INVALID_PREFILL_FIELDS',
        message: 'Some prefill fields are unknown or no strings, and are left out.',
        fields,
      });
    const { grant } = this.host.tokens;
    if (grant?.consumed === false && grant.onBehalfOf)
      this.#tellWarning({
        code: 'DELEGATION_UNSUPPORTED',
        message: `The session token could not be used (${String(grant.reason)}), so the view does not act for the child account.`,
      });
  }

  #tellWarning(payload: CallbackPayloads['onWarning']): void {
    this.#tell({ name: 'onWarning', payload: Object.freeze(payload) });
  }

  /** Returns whether the page listens to the callback. */
  #tell(event: FrameEvent): boolean {
    const isHeard = this.#listeners.has(event.name) || this.host.listeners.has(event.name);
    if (event.name === 'onResize') this.#resize(event.payload.height);
    if (event.name === 'onError' && !isHeard) unheard(event.payload);
    this.#listeners.tell(event);
    this.host.listeners.tell(event);
    return isHeard;
  }

  /** An animation that is still running would keep the frame in memory. */
  #halt(): void {
    for (const motion of this.#frame?.getAnimations() ?? []) motion.cancel();
  }

  /** The content below moves smoothly to its place, unless motion is reduced. */
  #resize(height: number): void {
    const frame = this.#frame;
    if (!frame) return;
    const before = frame.offsetHeight;
    frame.style.height = `${height}px`;
    this.#halt();
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches)
      frame.animate({ height: [`${before}px`, `${height}px`] }, 200);
  }

  /** Scrolls the page, or an element in it, at once and by the smallest distance. */
  #show(area: Area | null): void {
    const frame = this.#frame;
    if (!area || !frame || (frame.getRootNode() as Document | ShadowRoot).activeElement !== frame) return;
    // The page cannot scroll to a part of the frame for which it has no room yet.
    this.#halt();
    frame.style.scrollMargin = `${-area.top}px 0 ${area.bottom - frame.offsetHeight}px`;
    frame.scrollIntoView({ block: 'nearest', behavior: 'instant' });
    frame.style.scrollMargin = '';
  }

  #waitForHandshake(): void {
    this.#timer = setTimeout(() => {
      const { embeddedUrl } = this.host.settings;
      hint(
        `the frame at ${embeddedUrl} did not answer. Is ${location.origin} among the origins of the publishable key, and does the ` +
          `Content-Security-Policy of this page have frame-src ${new URL(embeddedUrl).origin}?`,
      );
      this.#fail(hostError('IFRAME_TIMEOUT'));
    }, LOAD_TIMEOUT_MS);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #failSoon(code: 'SYSTEM_CONFIGURATION_ERROR' | 'IFRAME_ERROR'): void {
    this.#timer = setTimeout(() => this.#fail(hostError(code)));
  }

  /** The view cannot be shown. The view is removed from the page, so that the page can mount it again. */
  #fail(error: ErrorPayload): void {
    if (this.#isClosed) return;
    // Closing removes the view's listeners, but they must still receive the reason.
    const { onError } = this.mount.callbacks;
    this.close();
    if (onError) this.#listeners.add('onError', onError);
    this.#tell({ name: 'onError', payload: Object.freeze(error) });
    this.#listeners.clear();
  }

  #disconnect(): void {
    this.#connection?.destroy();
    this.#connection = null;
    this.#started = null;
  }
}

/** The frame was removed or is loading again, so it does not need the message. */
function ignore(): void {}
