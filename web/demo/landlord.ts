// The landlord's part: applications that webhooks report, and the reports that renters share.
import { button, element, icon, type IconName, time } from './elements.js';
import { currentLanguage, say, type Texts } from './language.js';
import { reportAddress, type Webhook } from './server.js';

export interface LandlordParts {
  readonly list: HTMLElement;
  readonly report: HTMLElement;
  readonly title: HTMLElement;
  readonly place: HTMLElement;
}

interface Application {
  readonly sessionId: string;
  readonly told: ReadonlySet<string>;
  readonly at: Date;
}

type State = readonly [type: string, icon: IconName, ...words: Texts];

/** The state of an application is the first of these states that a webhook has reported. Webhooks arrive in any order. */
const STATES: readonly State[] = [
  ['report.revoked', 'stop', 'Stopped sharing', 'Dejó de compartir'],
  ['report.shared', 'share', 'Shared with you', 'Compartido con usted'],
  ['payment.refunded', 'card', 'Payment given back', 'Pago devuelto'],
  ['report.unavailable', 'alert', 'No report available', 'Informe no disponible'],
  ['screening.blocked', 'alert', 'Not verified', 'No verificado'],
  ['screening.completed', 'check', 'Report ready, not shared yet', 'Informe listo, aún no compartido'],
  ['payment.succeeded', 'card', 'Paid', 'Pagado'],
  ['screening.under_review', 'lock', 'People check the person', 'Unas personas revisan a la persona'],
  ['screening.step_up_required', 'lock', 'Verifying the identity', 'Verificando la identidad'],
];

const UNKNOWN: State = ['', 'page', '', ''];

export class LandlordPanel {
  private account = '';
  private opened: string | null = null;
  private readonly applications = new Map<string, Application>();

  constructor(private readonly parts: LandlordParts) {}

  /** `null` means that the list begins again. */
  hear(account: string, webhook: Webhook | null): void {
    if (webhook === null) {
      if (account !== this.account) this.close();
      this.account = account;
      this.applications.clear();
    } else this.take(webhook);
    this.draw();
  }

  draw(): void {
    const newestFirst = [...this.applications.values()].toSorted((one, other) => +other.at - +one.at);
    this.parts.list.replaceChildren(...newestFirst.map((application) => this.row(application)));
  }

  /** Opens the report again when the language changes. */
  speak(): void {
    this.draw();
    if (this.opened !== null) this.open(this.opened);
  }

  private take({ type, occurredAt, data: { session_id: sessionId } }: Webhook): void {
    if (sessionId === undefined || !STATES.some(([state]) => state === type)) return;
    const { told, at } = this.applications.get(sessionId) ?? { told: new Set<string>(), at: new Date(occurredAt) };
    const earlier = new Date(Math.min(+at, +new Date(occurredAt)));
    this.applications.set(sessionId, { sessionId, told: new Set([...told, type]), at: earlier });
    if (type === 'report.revoked' && this.opened === sessionId) this.close();
  }

  private row({ sessionId, told, at }: Application): HTMLLIElement {
    const [state, symbol, ...words] = STATES.find(([type]) => told.has(type)) ?? UNKNOWN;
    const row = element('li');
    row.dataset['state'] = state;
    const number = sessionId.slice(-8);
    const title = element('div', '', 'words');
    title.append(element('strong', say([`Application ${number}`, `Solicitud ${number}`])), time(at));
    const pill = element('span', '', 'pill');
    pill.append(icon(symbol), say(words));
    row.append(title, pill);
    if (state === 'report.shared')
      row.append(button(say(['Open the report', 'Abrir el informe']), () => this.open(sessionId), 'primary'));
    return row;
  }

  /** The report has no script and gets no rights of this page. */
  private open(sessionId: string): void {
    this.opened = sessionId;
    const number = sessionId.slice(-8);
    const frame = element('iframe');
    frame.setAttribute('sandbox', '');
    frame.title = say([`Shared report ${number}`, `Informe compartido ${number}`]);
    frame.src = reportAddress(this.account, sessionId, currentLanguage());
    this.parts.title.textContent = frame.title;
    this.parts.place.replaceChildren(frame);
    this.parts.report.hidden = false;
    this.parts.title.focus();
  }

  private close(): void {
    this.opened = null;
    this.parts.report.hidden = true;
    this.parts.place.replaceChildren();
  }
}
