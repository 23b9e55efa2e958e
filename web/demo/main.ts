// An integrator's page. `mountComponent` shows how the component is used. All other code is the listing around the component and the list of events.
import type { CallbackName, CallbackPayloads } from '../contract/callbacks.js';
import type { InitOptions, MountedView, ServiceGlobal, ServiceInstance } from '../contract/options.js';
import { callbacks } from './callbacks.js';
import { asCode, type Choice, readChoice } from './choice.js';
import { byId } from './elements.js';
import { LandlordPanel } from './landlord.js';
import { browsersLanguage, currentLanguage, type Language, say, speak, type Texts } from './language.js';
import { PersonaChips } from './persona-chips.js';
import { prefillOf } from './personas.js';
import { mintGrant, readConfig } from './server.js';
import { prepareTabs } from './tabs.js';
import { Timeline } from './timeline.js';
import { WebhookPanel } from './webhooks.js';

declare global {
  /** The host script sets this global. This global is undefined if the script could not be loaded. */
  var Service: ServiceGlobal | undefined;
}

const config = await readConfig();
const form = byId('options', HTMLFormElement);
const accounts = byId('account', HTMLSelectElement);
const component = byId('component', HTMLElement);
const languages = byId('language', HTMLSelectElement);
const timeline = new Timeline(byId('timeline', HTMLElement));
const deliveries = new Timeline(byId('delivery-log', HTMLElement));
const landlord = new LandlordPanel({
  list: byId('applications', HTMLElement),
  report: byId('shared-report', HTMLElement),
  title: byId('shared-title', HTMLElement),
  place: byId('report-place', HTMLElement),
});
const webhooks = new WebhookPanel({
  status: byId('webhooks-status', HTMLElement),
  button: byId('receive', HTMLButtonElement),
  timeline,
  deliveries: byId('deliveries', HTMLDetailsElement),
  deliveryLog: deliveries,
  hear: (webhook) => landlord.hear(accounts.value, webhook),
});
const personas = new PersonaChips((persona) => {
  prefill = prefillOf(persona);
  forgetScreening();
  follow();
  // The next key is sent to the component, and not to the chips again.
  void mountComponent().then(() => component.focus());
});

let instance: ServiceInstance | null = null;
let shown: { readonly view: MountedView; readonly choice: Choice } | null = null;
let prefill = prefillOf(personas.chosen);
/** Counts the mounts, so that only the later of two views stays. */
let turn = 0;

async function mountComponent(): Promise<void> {
  const mine = ++turn;
  unmount();
  const choice = chosen();
  tell(['Loading.', 'Cargando.']);
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
    tell(null);
  } catch (error) {
    const { message } = error as Error;
    if (mine === turn) tell([`Not mounted: ${message}`, `No se pudo mostrar: ${message}`]);
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

function hear(name: CallbackName, detail: CallbackPayloads[CallbackName]): void {
  timeline.add({ source: 'callback', name, at: new Date(), detail });
  if (shown?.view.screeningId) remember(shown.view.screeningId, shown.choice);
}

/** Stores the session for a later visit and for a reload of this page. A session of a grant is not stored, because only that grant can see it. */
function remember(screeningId: string, { account, grant }: Choice): void {
  const known = byId('sessions', HTMLDataListElement);
  if (![...known.options].some(({ value }) => value === screeningId))
    known.prepend(new Option(screeningId, screeningId));
  if (grant === 'none') history.replaceState(null, '', `#${new URLSearchParams({ account, screeningId }).toString()}`);
}

/** After a reload, the view that the page's address names is mounted again. */
function recall(): void {
  const before = new URLSearchParams(location.hash.slice(1));
  const screeningId = before.get('screeningId');
  if (screeningId === null) return;
  accounts.value = before.get('account') ?? accounts.value;
  byId('screeningId', HTMLInputElement).value = screeningId;
}

function forgetScreening(): void {
  byId('screeningId', HTMLInputElement).value = '';
  history.replaceState(null, '', location.pathname);
}

const chosen = (): Choice => readChoice(form, prefill, currentLanguage());

function publishableKey({ account }: Choice): string {
  return config.accounts.find(({ name }) => name === account)?.publishableKey ?? '';
}

function tell(texts: Texts | null): void {
  byId('status', HTMLElement).textContent = texts === null ? '' : say(texts);
}

/** The page follows the component's theme, and shows the choices as the code of a page. */
function follow(): void {
  const choice = chosen();
  document.documentElement.dataset['theme'] = choice.init.appearance?.theme ?? '';
  byId('code', HTMLElement).textContent = asCode(choice, { ...config, publishableKey: publishableKey(choice) });
}

function setLanguage(language: Language): void {
  speak(language);
  languages.value = language;
  personas.draw();
  timeline.draw();
  deliveries.draw();
  landlord.speak();
  webhooks.describe();
  follow();
}

function prepareDialogs(): void {
  for (const name of ['options', 'code']) {
    const dialog = byId(`${name}-dialog`, HTMLDialogElement);
    byId(`open-${name}`, HTMLButtonElement).addEventListener('click', () => dialog.showModal());
    dialog.querySelector('.close')?.addEventListener('click', () => dialog.close());
  }
  const drawer = byId('options-dialog', HTMLDialogElement);
  form.addEventListener('input', follow);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    drawer.close();
    void mountComponent();
  });
  byId('unmount', HTMLButtonElement).addEventListener('click', () => {
    turn += 1;
    unmount();
    drawer.close();
    tell(['The component is removed.', 'El componente se quitó.']);
  });
  byId('copy', HTMLButtonElement).addEventListener('click', () => {
    void navigator.clipboard.writeText(byId('code', HTMLElement).textContent);
  });
}

for (const { name, about } of config.accounts) {
  const option = new Option(`${name}: ${about[0]}`, name);
  option.dataset['es'] = `${name}: ${about[1]}`;
  accounts.append(option);
}
accounts.addEventListener('change', () => void webhooks.show(accounts.value));
languages.addEventListener('change', () => {
  setLanguage(languages.value as Language);
  // Typed text stays. A component that is still loading begins again in the new language.
  if (shown === null) void mountComponent();
  else instance?.update({ locale: currentLanguage() });
});
byId('noise', HTMLInputElement).addEventListener('change', ({ currentTarget }) =>
  timeline.showNoise((currentTarget as HTMLInputElement).checked),
);
byId('apply', HTMLButtonElement).addEventListener('click', () => {
  component.scrollIntoView();
  component.focus();
});
prepareTabs(['renter', 'landlord']);
prepareDialogs();
recall();
setLanguage(browsersLanguage());
void mountComponent();
await webhooks.show(accounts.value);
