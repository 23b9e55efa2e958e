// An integrator's page. `mountComponent` shows how to use the component; the rest is the form around it and the lists beside it.
import type { CallbackName, CallbackPayloads } from '../contract/callbacks.js';
import type { InitOptions, MountedView, Prefill, ServiceGlobal, ServiceInstance } from '../contract/options.js';
import { callbacks } from './callbacks.js';
import { asCode, type Choice, readChoice } from './choice.js';
import { element, Log } from './log.js';
import { PERSONAS, type Persona, prefillOf } from './personas.js';
import { mintGrant, readConfig } from './server.js';
import { WebhookPanel } from './webhooks.js';

declare global {
  /** The host script sets it; undefined when the script could not be loaded. */
  var Service: ServiceGlobal | undefined;
}

const NARROW = '(max-width: 64rem)';

const config = await readConfig();
const form = byId('options', HTMLFormElement);
const heard = new Log(byId('callbacks', HTMLElement));
const webhooks = new WebhookPanel({
  status: byId('webhooks-status', HTMLElement),
  button: byId('receive', HTMLButtonElement),
  received: new Log(byId('webhooks', HTMLElement)),
  deliveries: byId('deliveries', HTMLDetailsElement),
  deliveryLog: new Log(byId('delivery-log', HTMLElement)),
});

let instance: ServiceInstance | null = null;
let shown: { readonly view: MountedView; readonly choice: Choice } | null = null;
let prefill: Prefill | null = null;
/** Counts the mounts, so that the later of two stays. */
let turn = 0;

async function mountComponent(): Promise<void> {
  const mine = ++turn;
  unmount();
  const choice = readChoice(form, prefill);
  say('Mounting.');
  try {
    if (Service === undefined) throw new Error(`The host script could not be loaded from ${config.baseUrl}.`);
    const init = await initOptions(choice);
    const made = await Service.init(publishableKey(choice), init);
    if (mine !== turn) return made.destroy();
    instance = made;
    const view = await made.mount(choice.view, {
      ...choice.mount,
      ...callbacks(hear, choice.pageHandles),
    });
    if (mine === turn) shown = { view, choice };
    say(`Mounted: ${choice.view}, account ${choice.account}.`);
  } catch (error) {
    if (mine === turn) say(`Not mounted: ${(error as Error).message}`);
  }
}

async function initOptions({ init, grant, account, mount }: Choice): Promise<InitOptions> {
  const addresses = { baseUrl: config.baseUrl, embeddedUrl: config.embeddedUrl };
  if (grant === 'none') return { ...addresses, ...init };
  const { userType, endUserType, applicationFee } = mount;
  const fields = { user_type: userType, end_user_type: endUserType, application_fee: applicationFee };
  return { ...addresses, ...init, sessionToken: await mintGrant(account, grant, fields) };
}

function unmount(): void {
  instance?.destroy();
  instance = null;
  shown = null;
}

function hear(name: CallbackName, payload: CallbackPayloads[CallbackName]): void {
  heard.add({ title: name, at: new Date(), detail: payload, replaces: name === 'onChange' || name === 'onResize' });
  if (shown?.view.screeningId) remember(shown.view.screeningId, shown.choice);
}

/**
 * Stores the session for a later visit and for a reload of this page. A session of a grant is left out, because only that grant can see
 * it.
 */
function remember(screeningId: string, { account, grant }: Choice): void {
  const known = byId('sessions', HTMLDataListElement);
  if (![...known.options].some(({ value }) => value === screeningId))
    known.prepend(new Option(screeningId, screeningId));
  if (grant === 'none') history.replaceState(null, '', `#${new URLSearchParams({ account, screeningId }).toString()}`);
}

/** Mounts again, after a reload, the view that the address names. */
function goOn(): void {
  const before = new URLSearchParams(location.hash.slice(1));
  const screeningId = before.get('screeningId');
  if (screeningId === null) return;
  accounts.value = before.get('account') ?? accounts.value;
  byId('screeningId', HTMLInputElement).value = screeningId;
  follow();
  void mountComponent();
}

function forgetScreening(): void {
  byId('screeningId', HTMLInputElement).value = '';
  history.replaceState(null, '', location.pathname);
}

function publishableKey({ account }: Choice): string {
  return config.accounts.find(({ name }) => name === account)?.publishableKey ?? '';
}

function say(text: string): void {
  byId('status', HTMLElement).textContent = text;
}

/** The page follows the component's theme, and shows the chosen calls as code. */
function follow(): void {
  const choice = readChoice(form, prefill);
  document.documentElement.dataset['theme'] = choice.init.appearance?.theme ?? '';
  byId('code', HTMLElement).textContent = asCode(choice, publishableKey(choice), choice.init);
}

function personaButton(persona: Persona): HTMLLIElement {
  const button = element('button', '');
  button.type = 'button';
  button.setAttribute('aria-pressed', 'false');
  button.append(element('strong', persona.lastName), ' ', element('span', persona.line));
  button.addEventListener('click', () => {
    document.querySelector('#personas [aria-pressed=true]')?.setAttribute('aria-pressed', 'false');
    button.setAttribute('aria-pressed', 'true');
    prefill = prefillOf(persona);
    forgetScreening();
    follow();
    void mountComponent();
    if (matchMedia(NARROW).matches) byId('status', HTMLElement).scrollIntoView();
  });
  const item = document.createElement('li');
  item.append(button);
  return item;
}

function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`The page has no ${kind.name} #${id}`);
  return found;
}

for (const [index, { group, people }] of PERSONAS.entries()) {
  const part = document.createElement('details');
  part.open = index === 0;
  const list = document.createElement('ul');
  list.append(...people.map(personaButton));
  part.append(element('summary', group), list);
  byId('personas', HTMLElement).append(part);
}
const accounts = byId('account', HTMLSelectElement);
accounts.append(...config.accounts.map(({ name, about }) => new Option(`${name}: ${about}`, name)));
accounts.addEventListener('change', () => void webhooks.show(accounts.value));
form.addEventListener('input', follow);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void mountComponent();
});
byId('unmount', HTMLButtonElement).addEventListener('click', () => {
  turn += 1;
  unmount();
  say('Unmounted.');
});
byId('copy', HTMLButtonElement).addEventListener('click', () => {
  void navigator.clipboard.writeText(byId('code', HTMLElement).textContent);
});
if (matchMedia(NARROW).matches)
  for (const part of document.querySelectorAll<HTMLDetailsElement>('.options')) part.open = false;
follow();
goOn();
await webhooks.show(accounts.value);
