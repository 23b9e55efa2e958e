// The list of callbacks and webhooks by their time, the newest first. Each entry says in words what happened, and opens to show its JSON.
import { element, icon, type IconName, time } from './elements.js';
import { say, type Texts } from './language.js';

export interface Entry {
  readonly source: 'callback' | 'webhook' | 'delivery';
  readonly name: string;
  readonly at: Date;
  readonly detail: unknown;
  /** The id of the delivery, for an entry that has one. */
  readonly deliveryId?: string;
  readonly verified?: boolean;
}

const KEPT = 200;
/** Callbacks that are called at each typed letter and each change of height. */
const NOISE = ['onChange', 'onResize'];

const MEANINGS: Readonly<Record<string, readonly [IconName, ...Texts]>> = {
  onReady: ['page', 'The component is ready', 'El componente está listo'],
  onStepStart: ['page', 'A step begins', 'Empieza un paso'],
  onStepComplete: ['check', 'A step is done', 'Un paso terminó'],
  onVerificationSuccess: ['check', 'The identity is verified', 'La identidad está verificada'],
  onVerificationFailure: ['alert', 'The identity is not verified', 'La identidad no se verificó'],
  onScreeningSuccess: ['check', 'The screening is complete', 'La evaluación está completa'],
  onPaymentSuccess: ['card', 'The renter has paid', 'El inquilino pagó'],
  onReportShared: ['share', 'The report is shared', 'El informe está compartido'],
  onReportRevoked: ['stop', 'The renter stopped sharing', 'El inquilino dejó de compartir'],
  onReportShareDeclined: ['stop', 'The renter does not share', 'El inquilino no comparte'],
  onReportUnavailable: ['alert', 'The bureau refuses the report', 'El buró niega el informe'],
  onDone: ['check', 'The renter is done', 'El inquilino terminó'],
  onIncomeReportComplete: ['check', 'The income is confirmed', 'Los ingresos están confirmados'],
  onIncomeReportFailure: ['alert', 'The income is not confirmed', 'Los ingresos no se confirmaron'],
  onError: ['alert', 'An error', 'Un error'],
  onWarning: ['alert', 'A warning', 'Una advertencia'],
  'screening.completed': ['check', 'A screening is complete', 'Una evaluación está completa'],
  'screening.blocked': ['alert', 'A screening is blocked', 'Una evaluación está bloqueada'],
  'screening.under_review': ['lock', 'People check the person', 'Unas personas revisan a la persona'],
  'screening.user_action_required': [
    'lock',
    'The person must act at the vendor',
    'La persona debe actuar con el proveedor',
  ],
  'screening.step_up_required': ['lock', 'A code or answers are asked for', 'Se pide un código o respuestas'],
  'payment.succeeded': ['card', 'A payment has succeeded', 'Un pago se realizó'],
  'payment.refunded': ['card', 'A payment is given back', 'Un pago se devolvió'],
  'report.shared': ['share', 'A report is shared', 'Un informe está compartido'],
  'report.revoked': ['stop', 'A share has ended', 'Un informe ya no se comparte'],
  'report.unavailable': ['alert', 'A report is not available', 'Un informe no está disponible'],
  'income_report.completed': ['check', 'An income is confirmed', 'Unos ingresos están confirmados'],
  'income_report.user_action_required': [
    'lock',
    'The person must act at the vendor',
    'La persona debe actuar con el proveedor',
  ],
  'income_report.failed': ['alert', 'An income is not confirmed', 'Unos ingresos no se confirmaron'],
};

/** The steps of the component in words. */
const STEPS: Readonly<Record<string, Texts>> = {
  details: ['details', 'datos'],
  choice: ['code or questions', 'código o preguntas'],
  otp: ['code', 'código'],
  kba: ['questions', 'preguntas'],
  payment: ['payment', 'pago'],
  report: ['report', 'informe'],
  share: ['sharing', 'compartir'],
  income: ['income', 'ingresos'],
  rights: ['rights', 'derechos'],
};

const SOURCES: Readonly<Record<Entry['source'], Texts>> = {
  callback: ['Callback', 'Callback'],
  webhook: ['Webhook', 'Webhook'],
  delivery: ['Delivery', 'Entrega'],
};

export class Timeline {
  private entries: Entry[] = [];
  private noisy = false;

  constructor(private readonly list: HTMLElement) {}

  /** Entries that are open stay open. */
  add(entry: Entry): void {
    const place = placeOf(entry, this.entries);
    const newer = this.entries.slice(0, place).filter(this.shows).length;
    this.entries.splice(place, 0, entry);
    if (this.shows(entry)) this.list.insertBefore(item(entry), this.list.children[newer] ?? null);
    this.entries.splice(KEPT);
    const { length } = this.entries.filter(this.shows);
    while (this.list.childElementCount > length) this.list.lastElementChild?.remove();
  }

  remove(source: Entry['source']): void {
    this.entries = this.entries.filter((entry) => entry.source !== source);
    this.draw();
  }

  showNoise(noisy: boolean): void {
    this.noisy = noisy;
    this.draw();
  }

  /** Also called when the language changes. */
  draw(): void {
    this.list.replaceChildren(...this.entries.filter(this.shows).map(item));
  }

  private readonly shows = ({ name }: Entry): boolean => this.noisy || !NOISE.includes(name);
}

/** Webhooks of the past may arrive after callbacks of the present. If two entries have the same time, the entry that was added later is newer. */
export function placeOf({ at }: Pick<Entry, 'at'>, newestFirst: readonly Pick<Entry, 'at'>[]): number {
  const older = newestFirst.findIndex((entry) => entry.at <= at);
  return older === -1 ? newestFirst.length : older;
}

function item({ source, name, at, detail, deliveryId, verified }: Entry): HTMLLIElement {
  const [symbol, ...meaning] = MEANINGS[name] ?? [source === 'callback' ? 'page' : 'webhook', name, name];
  const made = element('li');
  made.dataset['name'] = name;
  const opened = element('details');
  const summary = element('summary');
  const words = element('span', '', 'words');
  const { step } = detail as { readonly step?: string };
  const title = step === undefined ? say(meaning) : `${say(meaning)}: ${say(STEPS[step] ?? [step, step])}`;
  words.append(element('strong', title), element('span', `${say(SOURCES[source])} `, 'source'));
  words.lastElementChild?.append(element('code', name));
  summary.append(icon(symbol), words, time(at));
  const json = element('pre');
  json.tabIndex = 0;
  json.append(element('code', JSON.stringify(detail, null, 2)));
  opened.append(summary, json);
  if (deliveryId !== undefined)
    opened.append(element('small', `${say(['Delivery', 'Entrega'])} ${deliveryId}`, 'quiet'));
  made.append(opened);
  if (verified === true) {
    const mark = element('p', '', 'verified');
    mark.append(icon('lock'), say(['Signature verified', 'Firma verificada']));
    made.append(mark);
  }
  return made;
}
