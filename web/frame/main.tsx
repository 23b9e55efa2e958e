// The frame application: waits for the page that embeds it, and shows the view that the page requests.
import { connect, PortMessenger } from 'penpal';
import { type ComponentChild, render } from 'preact';
import { COMPONENT_ERRORS } from '../contract/codes.js';
import { languageOf } from '../contract/language.js';
import {
  type Area,
  type Dress,
  type FrameEvent,
  type FrameMethods,
  type PageMethods,
  PORT_MESSAGE,
  type Token,
} from '../contract/messages.js';
import { readDress, readFrameStart, readToken } from '../contract/read-messages.js';
import { Client } from './api/client.js';
import { App } from './app.js';
import { browser } from './browser.js';
import { LanguageContext } from './parts/language.js';
import { Failed } from './screens.js';
import { settings } from './settings.js';

/** The time limit for the page to supply a new token. */
const TOKEN_LIMIT_MS = 30_000;

function run(port: MessagePort): void {
  let token: Token | null = null;
  let started = false;
  let wear: (dress: Dress) => void = () => undefined;
  // The object has no prototype, because penpal calls any method here that the page names.
  const methods: FrameMethods = Object.assign(Object.create(null) as object, {
    start(argument: unknown) {
      if (started) return;
      const start = readFrameStart(argument);
      if (!start) return refuse('The host script and the frame are of different versions.');
      if (new URL(settings.embeddedUrl).origin !== location.origin)
        return refuse(
          `The frame of this service is at ${settings.embeddedUrl}: init needs that address as embeddedUrl.`,
        );
      started = true;
      token = start.token;
      const client = new Client({ ...browser, apiUrl: settings.apiUrl, token: tokenFor });
      const told = { emit, known, showFocus, onDress: (listener: typeof wear) => void (wear = listener) };
      show(<App settings={settings} start={start} api={client} {...told} />);
    },
    dressed(argument: unknown) {
      const dress = readDress(argument);
      if (dress) wear(dress);
    },
    renewed(argument: unknown) {
      token = readToken(argument) ?? token;
    },
  });
  const connection = connect<PageMethods>({ messenger: new PortMessenger({ port }), methods });
  const page = connection.promise;

  async function emit(event: FrameEvent): Promise<boolean> {
    return (await page.then((remote) => remote.emit(event)).catch(gone)) === true;
  }

  /** The page receives the reason. The person only reads that the component is not available. */
  function refuse(message: string): void {
    const { recoverable } = COMPONENT_ERRORS.SYSTEM_CONFIGURATION_ERROR;
    const problem = { code: 'SYSTEM_CONFIGURATION_ERROR', message, recoverable };
    void emit({ name: 'onError', payload: problem });
    const language = languageOf(navigator.languages);
    document.documentElement.lang = language;
    show(
      <LanguageContext.Provider value={language}>
        <Failed language={language} shown={{ kind: 'failed', problem, again: null, first: true }} />
      </LanguageContext.Provider>,
    );
  }

  function known(sessionId: string): void {
    void page.then((remote) => remote.session(sessionId)).catch(gone);
  }

  /** An older host script does not have this method. */
  function showFocus(area: Area): void {
    void page.then((remote) => remote.show(area)).catch(gone);
  }

  /** The page allows one renewal at a time, and gives all callers the same token. */
  async function tokenFor(refused: string | null): Promise<string | null> {
    if (token && token.token !== refused) return token.token;
    const limit = new Promise<null>((resolve) => setTimeout(resolve, TOKEN_LIMIT_MS, null));
    const asked = page.then((remote) => remote.token(refused)).then(readToken);
    const answer = await Promise.race([asked, limit]).catch(gone);
    if (answer) token = answer;
    return answer?.token ?? null;
  }
}

/** Replaces the outline with which the page begins. */
function show(content: ComponentChild): void {
  document.body.replaceChildren();
  render(content, document.body);
}

/** The page has removed the frame or is reloading, so the message has no receiver. */
function gone(): null {
  return null;
}

addEventListener('message', function listen({ source, origin, data, ports: [port] }) {
  if (source !== parent || !settings.allowedOrigins.includes(origin) || data !== PORT_MESSAGE || !port) return;
  removeEventListener('message', listen);
  run(port);
});
